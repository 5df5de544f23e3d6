package sim_test

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// stream is an open watch of the informer.
type stream struct {
	source *source
	inner  watch.Interface
	out    chan watch.Event

	left   int         // the number of events until the end; negative for no limit
	silent atomic.Bool // half-open: sends neither events nor an end

	counted *attempt
	initial bool // the initial state of the stream is incomplete; only send uses it

	ctx    context.Context
	inject chan watch.Event
	stop   context.CancelFunc // called by the reader
	cut    chan struct{}      // closed by the driver
	ended  chan struct{}      // closed after out
	once   sync.Once
}

func newStream(ctx context.Context, s *source, inner watch.Interface, f fault, o metav1.ListOptions, counted *attempt) *stream {
	w := &stream{
		source: s, inner: inner, out: make(chan watch.Event), left: -1, initial: o.SendInitialEvents != nil, counted: counted,
		inject: make(chan watch.Event), cut: make(chan struct{}), ended: make(chan struct{}),
	}
	w.silent.Store(f.op == silentWatch)
	if f.op == endWatchEarly {
		w.left = f.n
	}
	w.ctx, w.stop = context.WithCancel(ctx)
	go func() {
		switch {
		case f.op == vanishingWatch:
			w.vanish(o.ResourceVersion)
			w.left = 0
		case f.op == noVersion && s.suspicious(o):
			w.endWithoutVersion()
			w.left = 0
		}
		w.run()
	}()
	return w
}

func (w *stream) ResultChan() <-chan watch.Event { return w.out }

// Stop ends the watch. It does not wait, unless a mutant makes it.
func (w *stream) Stop() {
	w.stop()
	if world := w.source.w; world.mutant.watchIgnoresStop {
		<-world.over
	}
}

// end closes the connection; both sides notice.
func (w *stream) end() { w.once.Do(func() { close(w.cut) }) }

func (w *stream) over() bool { return kit.Closed(w.ended) }

// cutOrStopped reports whether no event may follow, because an event after a lost event would be wrong.
func (w *stream) cutOrStopped() bool { return kit.Closed(w.cut) || w.ctx.Err() != nil }

func (w *stream) run() {
	defer w.inner.Stop()
	defer func() {
		w.source.mu.Lock()
		w.counted.lasted = time.Since(w.counted.at)
		w.source.mu.Unlock()
		close(w.ended)
	}()
	defer close(w.out)
	in := w.inner.ResultChan()
	for w.left != 0 && !w.cutOrStopped() {
		select { // the driver's events have priority
		case e := <-w.inject:
			w.send(e)
			continue
		default:
		}
		select {
		case e, ok := <-in:
			switch {
			case ok:
				w.pass(e)
			case w.silent.Load():
				in = nil // a half-open watch does not notice the end
			default:
				return
			}
		case e := <-w.inject:
			w.send(e)
		case <-w.ctx.Done():
			return
		case <-w.cut:
			return
		}
	}
}

// pass sends an event zero times, once or twice.
func (w *stream) pass(e watch.Event) {
	s := w.source
	if p, ok := e.Object.(*corev1.Pod); ok && e.Type != watch.Bookmark {
		s.alter(p)
	}
	s.mu.Lock()
	end := e.Type == watch.Bookmark && w.initial && endsInitialState(e)
	if end && s.w.versionless {
		s.w.reach("answer", "a stream without a version")
		e.Object.(*corev1.Pod).ResourceVersion = ""
	}
	lost := e.Type == watch.Bookmark && (s.lossy || s.w.blank && !end || s.w.mutant.losesBookmarks)
	late := s.late
	twice := s.doubles > 0 && (e.Type == watch.Added || e.Type == watch.Modified || e.Type == watch.Deleted)
	if twice {
		s.doubles--
	}
	s.mu.Unlock()
	w.lag(late)
	switch {
	case lost:
		s.w.reach("operation", loseBookmarks)
		return
	case s.w.mutant.silentWatches:
		return
	case twice:
		s.w.reach("operation", duplicateEvents)
		w.send(watch.Event{Type: e.Type, Object: e.Object.DeepCopyObject()})
	}
	w.send(e)
}

// lag delays an event.
func (w *stream) lag(d time.Duration) {
	if d > 0 {
		w.source.w.reach("operation", lateEvents)
	}
	if d += w.source.offset(); d == 0 {
		return
	}
	select {
	case <-time.After(d):
	case <-w.ctx.Done():
	case <-w.cut:
	}
}

func (w *stream) send(e watch.Event) {
	if w.silent.Load() || w.cutOrStopped() {
		return
	}
	if w.left > 0 {
		w.left--
	}
	select {
	case w.out <- e:
		switch e.Type {
		case watch.Error:
			w.source.recordError(w.initial)
		case watch.Bookmark:
			w.source.marked.Store(true)
			if endsInitialState(e) {
				w.initial = false
				w.source.recordStreamEnd()
			}
		}
	case <-w.ctx.Done():
	case <-w.cut:
	}
}

// endWithoutVersion ends an empty initial state without a version.
func (w *stream) endWithoutVersion() {
	w.source.w.reach("answer", "an empty stream without a version")
	w.source.recordError(true)
	w.initial = false
	w.send(watch.Event{Type: watch.Bookmark, Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"}}}})
}

// endsInitialState reports whether an event is the bookmark that ends the initial state of a stream.
func endsInitialState(e watch.Event) bool {
	p, ok := e.Object.(*corev1.Pod)
	return ok && p.Annotations[metav1.InitialEventsAnnotationKey] == "true"
}

// sendError sends an error, as a server does before it ends a watch.
func (w *stream) sendError(n int) {
	n = (n - 1) % len(watchErrors)
	w.source.w.reach("spit", n)
	w.source.w.reach("operation", watchError)
	status := watchErrors[n].ErrStatus
	w.injectEvent(watch.Event{Type: watch.Error, Object: &status})
}

// sendGarbage sends an object of another type.
func (w *stream) sendGarbage() {
	w.source.w.reach("operation", badEvent)
	w.injectEvent(watch.Event{Type: watch.Added, Object: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", ResourceVersion: "999999"}}})
}

func (w *stream) injectEvent(e watch.Event) {
	select {
	case w.inject <- e:
	case <-w.ended:
	}
}
