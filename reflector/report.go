package reflector

import (
	"fmt"
	"time"

	"github.com/tidemark-k8s/tidemark/internal/goexit"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// report tells what in and the machine's answer to it mean.
func (l *loop) report(in input, a action, err error) {
	switch {
	case in.kind == inCommitted:
		l.listed()
	case in.kind == inOpened && l.asked == OpWatch:
		l.watchBegan()
	}
	if a.failed || a.wentBack { // a server whose history goes back again and again is not well
		l.healthy = time.Time{}
	}
	if a.failed {
		l.fail(err)
	}
	if a.refused {
		l.refused = time.Now()
		l.tell(StreamRefused{Reason: shortText(err), Retry: streamRetry})
	}
	if a.wentBack {
		l.tell(HistoryWentBack{From: l.machine.version, To: in.version})
	}
}

func (l *loop) listed() {
	l.tell(Listed{
		Operation: l.asked,
		Version:   l.machine.version,
		Objects:   l.objects,
		Took:      time.Since(l.began),
	})
	l.began, l.batch = time.Time{}, nil
	if l.conn != nil {
		l.asked = OpWatch
		l.conn.becomeWatch()
		l.watchBegan()
	}
}

func (l *loop) watchBegan() {
	l.watched = time.Now()
	if l.healthy.IsZero() {
		l.healthy = l.watched
	}
	l.tell(WatchStarted{Version: l.machine.version})
}

// fail tells of an error of what was asked last.
func (l *loop) fail(err error) {
	what := string(l.asked)
	if l.o.Name != "" {
		what += " " + l.o.Name
	}
	l.tell(Failed{Operation: l.asked, Err: fmt.Errorf("%s: %.*w", what, object.MaxText, err), Attempt: l.machine.failures})
}

// skip tells of something that was left out.
func (l *loop) skip(err error) { l.tell(Skipped{Err: fmt.Errorf("%.*w", object.MaxText, err)}) }

func shortText(err error) string { return fmt.Sprintf("%.*v", object.MaxText, err) }

// tell tells the observer, on another goroutine, which is its own to end.
func (l *loop) tell(e Event) {
	if l.o.Observe != nil {
		goexit.Apart(func() { l.o.Observe(e) })
	}
}
