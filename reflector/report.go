package reflector

import (
	"fmt"
	"time"

	"github.com/tidemark-k8s/tidemark/internal/object"
)

// report emits the events for an input and the machine's action. It runs before the action, while
// the last request and its times still belong to the input.
func (l *loop) report(in input, a action, err error) {
	if in.kind == inCommitted {
		if since := l.times.missingSince; !since.IsZero() {
			l.tell(Served{Took: time.Since(since)})
		}
		l.tell(Listed{
			Operation: l.operation,
			Cause:     l.cause,
			Version:   l.machine.version,
			Objects:   l.objects,
			Took:      time.Since(l.times.cycleStart),
		})
	}
	if a.historyUnknown {
		l.tell(HistoryUnknown{})
	}
	if watchBegins(in, l.machine.phase) {
		l.tell(WatchStarted{Version: l.machine.version})
	}
	if a.failed {
		l.reportFailure(err)
	}
	if a.missing && l.times.missingSince.IsZero() {
		l.tell(NotServed{Err: l.failure(err)})
	}
	if a.streamsDisabled {
		l.tell(StreamRefused{Reason: shortText(err), Class: ClassOf(err), Retry: streamsDisabledFor})
	}
	if a.rolledBack {
		l.tell(HistoryWentBack{From: l.machine.version, To: in.version})
	}
}

// reportDecoded reports, once, that the client has decoded an answer that the sink could pack from
// the server's bytes. It does not report fakes, because Wire cannot help them.
func (l *loop) reportDecoded() {
	if l.form.Packs != nil && !l.clientDecoded && l.source.Streams != StreamingUnsupported {
		l.clientDecoded = true
		l.tell(ClientDecoded{})
	}
}

// reportRequest reports a request just before it is sent, or one that was sent ahead.
func (l *loop) reportRequest(a action) {
	switch {
	case a.op == doList && a.request.token == "":
		l.tell(Asked{Operation: OpList, Cause: l.cause, Version: a.request.version})
	case a.op == doStream:
		l.tell(Asked{Operation: OpStream, Cause: l.cause, Version: a.request.version})
	case a.op == doWatch:
		l.tell(Asked{Operation: OpWatch, Version: a.request.version})
	}
}

// reportFailure reports an error of the last request.
func (l *loop) reportFailure(err error) {
	l.tell(Failed{Operation: l.operation, Class: ClassOf(err), Err: l.failure(err), Attempt: l.machine.failures.count})
}

// failure adds the operation and the name of the reflector to an error.
func (l *loop) failure(err error) error {
	what := string(l.operation)
	if l.o.Name != "" {
		what += " " + l.o.Name
	}
	return fmt.Errorf("%s: %.*w", what, object.MaxText, err)
}

// reportWatchEnd reports the end of a watch.
func (l *loop) reportWatchEnd(events int, reason string) {
	if !l.times.watchStart.IsZero() {
		l.tell(WatchEnded{Version: l.machine.version, Events: events, Took: time.Since(l.times.watchStart), Reason: reason})
	}
}

// reasonOf returns the reason for the end of a watch, for people.
func reasonOf(in input, a action, err error) string {
	switch {
	case in.kind == inStop:
		return "stopped"
	case a.rolledBack:
		return "the server's history went back"
	case a.failed:
		return shortText(err)
	case in.kind == inAsked:
		return "opened again for a bookmark"
	case in.kind == inSilent:
		return "silent after an outage"
	default:
		return "closed by the server"
	}
}

// reportSkipped reports an object or event that was left out.
func (l *loop) reportSkipped(err error) {
	l.tell(Skipped{Err: fmt.Errorf("%.*w", object.MaxText, err)})
}

func shortText(err error) string { return fmt.Sprintf("%.*v", object.MaxText, err) }

func (l *loop) tell(e Event) {
	if l.o.Observe != nil {
		l.o.Observe(e)
	}
}
