package delivery

import (
	"sync"
	"sync/atomic"
)

// Waker wakes goroutines that wait for a change. The zero value is ready to use. Safe for concurrent use.
type Waker struct {
	waiting atomic.Int32

	mu      sync.Mutex
	changed chan struct{}
}

// Join counts the caller as waiting, until it calls Leave.
func (w *Waker) Join() { w.waiting.Add(1) }

// Leave undoes Join.
func (w *Waker) Leave() { w.waiting.Add(-1) }

// awaited reports whether a goroutine waits.
func (w *Waker) awaited() bool { return w.waiting.Load() > 0 }

// Changed returns a channel that the next Wake closes. The caller has joined.
func (w *Waker) Changed() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()

	if w.changed == nil {
		w.changed = make(chan struct{})
	}
	return w.changed
}

// Wake wakes all waiting goroutines, because something may have changed.
func (w *Waker) Wake() {
	if !w.awaited() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()

	if w.changed != nil {
		close(w.changed)
		w.changed = nil
	}
}
