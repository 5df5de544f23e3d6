package sim_test

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// stream is an open watch, as the informer sees it.
type stream struct {
	source *source
	inner  watch.Interface
	out    chan watch.Event

	left   int         // events until it ends, negative for no such end
	silent atomic.Bool // half-open: nothing comes any more, not even the end

	ctx    context.Context
	inject chan watch.Event
	stop   context.CancelFunc // the reader's
	cut    chan struct{}      // the driver's
	ended  chan struct{}      // closed when out is
	once   sync.Once
}

func newStream(ctx context.Context, s *source, inner watch.Interface, f fault) *stream {
	w := &stream{
		source: s, inner: inner, out: make(chan watch.Event), left: -1,
		inject: make(chan watch.Event), cut: make(chan struct{}), ended: make(chan struct{}),
	}
	w.silent.Store(f.deed == mute)
	if f.deed == early {
		w.left = f.n
	}
	w.ctx, w.stop = context.WithCancel(ctx)
	go w.run()
	return w
}

func (w *stream) ResultChan() <-chan watch.Event { return w.out }

// Stop ends the watch. It does not wait, unless that is the sabotage.
func (w *stream) Stop() {
	w.stop()
	if world := w.source.w; world.sabotage.deaf {
		<-world.over
	}
}

// end cuts the connection, which both sides notice.
func (w *stream) end() { w.once.Do(func() { close(w.cut) }) }

func (w *stream) over() bool { return closed(w.ended) }

// broken tells whether nothing must come any more: an event behind one that
// was lost would be a lie.
func (w *stream) broken() bool { return closed(w.cut) || w.ctx.Err() != nil }

func (w *stream) run() {
	defer w.inner.Stop()
	defer close(w.ended)
	defer close(w.out)
	in := w.inner.ResultChan()
	for w.left != 0 && !w.broken() {
		select { // what the driver gives is first
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
				in = nil // who is half-open does not see the end
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

// pass hands an event on: never, once or twice.
func (w *stream) pass(e watch.Event) {
	s := w.source
	if p, ok := e.Object.(*corev1.Pod); ok && e.Type != watch.Bookmark {
		s.lie(p)
	}
	s.mu.Lock()
	lost := e.Type == watch.Bookmark && (s.lossy || s.w.blank || s.w.sabotage.mum)
	late := s.late
	twice := s.doubles > 0 && (e.Type == watch.Added || e.Type == watch.Modified || e.Type == watch.Deleted)
	if twice {
		s.doubles--
	}
	s.mu.Unlock()
	w.lag(late)
	switch {
	case lost:
		s.w.reach("deed", lose)
		return
	case s.w.sabotage.hush:
		return
	case twice:
		s.w.reach("deed", double)
		w.send(watch.Event{Type: e.Type, Object: e.Object.DeepCopyObject()})
	}
	w.send(e)
}

// lag lets time pass before an event comes.
func (w *stream) lag(d time.Duration) {
	if d > 0 {
		w.source.w.reach("deed", lag)
	}
	if d += w.source.apart(); d == 0 {
		return
	}
	select {
	case <-time.After(d):
	case <-w.ctx.Done():
	case <-w.cut:
	}
}

func (w *stream) send(e watch.Event) {
	if w.silent.Load() || w.broken() {
		return
	}
	if w.left > 0 {
		w.left--
	}
	select {
	case w.out <- e:
		switch e.Type {
		case watch.Error:
			w.source.told()
		case watch.Bookmark:
			w.source.marked.Store(true)
			if p, ok := e.Object.(*corev1.Pod); ok && p.Annotations[metav1.InitialEventsAnnotationKey] == "true" {
				w.source.streamed()
			}
		}
	case <-w.ctx.Done():
	case <-w.cut:
	}
}

// spit sends an error, as servers do when they cannot go on.
func (w *stream) spit(n int) {
	n = (n - 1) % len(spits)
	w.source.w.reach("spit", n)
	w.source.w.reach("deed", spit)
	status := spits[n].ErrStatus
	w.give(watch.Event{Type: watch.Error, Object: &status})
}

// rubbish sends an object that is not what was asked for.
func (w *stream) rubbish() {
	w.source.w.reach("deed", garbage)
	w.give(watch.Event{Type: watch.Added, Object: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", ResourceVersion: "999999"}}})
}

func (w *stream) give(e watch.Event) {
	select {
	case w.inject <- e:
	case <-w.ended:
	}
}
