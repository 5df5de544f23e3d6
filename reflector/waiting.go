package reflector

import (
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/internal/object"
)

// maxTaken is the number of events to take from a source's channel at once.
const maxTaken = 16

// waiting takes events from a channel, a few at a time.
//
// The source wrote the objects on another processor, so the first read of each is a cache miss.
// Several misses in a row overlap and take as long as one. With one event at a time, they were a
// quarter of its cost.
type waiting struct {
	taken  []watch.Event // in buffer, not returned yet
	buffer []watch.Event // grows up to maxTaken
}

// next returns the next waiting event. If none waits, ready is false. If the channel is closed,
// ready is true and ok is false.
func (w *waiting) next(events <-chan watch.Event) (e watch.Event, ok, ready bool) {
	if len(w.taken) == 0 {
		if open := w.take(events); len(w.taken) == 0 {
			return e, false, !open
		}
		w.look()
	}
	e, w.taken[0] = w.taken[0], e // release the object
	w.taken = w.taken[1:]
	return e, true, true
}

// take takes the waiting events, and reports whether the channel is open.
func (w *waiting) take(events <-chan watch.Event) (open bool) {
	w.taken, open = w.buffer[:0], true
	for ready := true; ready && len(w.taken) < maxTaken; {
		var e watch.Event
		select {
		case e, open = <-events:
			if ready = open; open {
				w.taken = append(w.taken, e)
			}
		default:
			ready = false
		}
	}
	w.buffer = w.taken[:0]
	return open
}

// look reads the fields of each object that are needed later. An object that panics here will panic
// again then.
func (w *waiting) look() {
	defer func() { _ = recover() }()
	for i := range w.taken {
		if m := object.Meta(w.taken[i].Object); m != nil {
			_ = m.GetResourceVersion()
		}
	}
}
