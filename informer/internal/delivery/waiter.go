package delivery

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
)

// Waiter waits for a handler to be told everything up to a position of the log.
type Waiter struct {
	of       *Registration
	position uint64
	told     chan struct{} // closed when the handler has been told, or is stopped
}

// AddWaiters adds a waiter to each handler, for everything published so far.
func (p *SharedProcessor) AddWaiters() (all []*Waiter) {
	for _, r := range p.All() {
		all = append(all, r.waiters.add(r))
		r.wakeWaiters() // the handler may have delivered before it knew of the waiter
	}
	return all
}

// Handler returns the registration of the waiter's handler.
func (w *Waiter) Handler() *Registration { return w.of }

// Told returns a channel that is closed when the handler has been told everything, or is stopped.
func (w *Waiter) Told() <-chan struct{} { return w.told }

// Remove ends the wait.
func (w *Waiter) Remove() { w.of.waiters.remove(w) }

// waiters are the waiters for a handler to deliver everything up to some position.
type waiters struct {
	count atomic.Int32 // len(all)

	mu  sync.Mutex
	all []*Waiter
}

// add adds a waiter to the waiters of a registration. The handler looks for it before each event that is published
// later, since it counts before its position is read.
func (w *waiters) add(of *Registration) *Waiter {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.count.Add(1)
	waiter := &Waiter{of: of, position: of.processor.log.End(), told: make(chan struct{})}
	w.all = append(w.all, waiter)
	return waiter
}

func (w *waiters) remove(waiter *Waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()

	if i := slices.Index(w.all, waiter); i >= 0 {
		w.all = slices.Delete(w.all, i, i+1)
		w.count.Add(-1)
	}
}

// some reports whether there are waiters.
func (w *waiters) some() bool { return w.count.Load() > 0 }

// wakeWaiters wakes the waiters whose position the handler has reached, or all if it is stopped. The
// registration's goroutine calls it after each burst, and before each event while there are waiters.
func (r *Registration) wakeWaiters() {
	if !r.waiters.some() {
		return
	}
	position, ok := r.feed.delivered()
	if closed(r.stopCalled) { // it gets no more events
		position, ok = math.MaxUint64, true
	}
	if !ok {
		return
	}
	r.waiters.mu.Lock()
	defer r.waiters.mu.Unlock()

	for _, waiter := range r.waiters.all {
		if waiter.position <= position && !closed(waiter.told) {
			close(waiter.told)
		}
	}
}
