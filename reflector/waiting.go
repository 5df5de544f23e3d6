package reflector

import (
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/internal/object"
)

// maxTaken is how many events are taken from a source's channel at once.
const maxTaken = 16

// waiting takes the events that wait in a channel, a few at once.
//
// A source has written its objects on another processor, so that the first look at each
// costs a line of memory that this one's cache does not hold. Several such looks in a row
// take as long as one; an event at a time they were a quarter of what it costs.
type waiting struct {
	taken  []watch.Event // in buffer, and not returned yet
	buffer [maxTaken]watch.Event
}

// next returns the next event that waits. It is not ready where none does; where the
// channel is closed there is none, and never will be.
func (w *waiting) next(events <-chan watch.Event) (e watch.Event, ok, ready bool) {
	if len(w.taken) == 0 {
		if open := w.take(events); len(w.taken) == 0 {
			return e, false, !open
		}
		w.look()
	}
	e, w.taken[0] = w.taken[0], e // the object is not held longer than it takes
	w.taken = w.taken[1:]
	return e, true, true
}

// take takes what waits, and tells whether the channel is open.
func (w *waiting) take(events <-chan watch.Event) (open bool) {
	w.taken = w.buffer[:0]
	for len(w.taken) < maxTaken {
		select {
		case e, ok := <-events:
			if !ok {
				return false
			}
			w.taken = append(w.taken, e)
		default:
			return true
		}
	}
	return true
}

// look reads of each object what will be read of it. One that panics does so again then.
func (w *waiting) look() {
	defer func() { _ = recover() }()
	for i := range w.taken {
		if m := object.Meta(w.taken[i].Object); m != nil {
			_ = m.GetResourceVersion()
		}
	}
}
