package delivery

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// Waiter waits for a handler to be told everything up to a position of the log.
type Waiter struct {
	of       *Registration
	position uint64
	told     chan struct{} // closed when the handler has been told
}

// AddWaiters adds a waiter to each handler, for everything published so far. The handlers know of
// the waiters before any later event is published, and check for them before they deliver it.
// AddWaiters freezes the store, because the store's version may be visible a moment before the
// events of its write section are.
func (p *SharedProcessor) AddWaiters() (all []*Waiter) {
	p.store.Freeze(func(*indexer.Tx) {
		position := p.log.End()
		for _, r := range p.All() {
			all = append(all, r.waiters.add(r, position))
		}
	})
	for _, w := range all {
		w.of.wakeWaiters() // the handler may have delivered before it knew of the waiter
	}
	return all
}

// Handler returns the registration of the waiter's handler.
func (w *Waiter) Handler() *Registration { return w.of }

// Told returns a channel that is closed when the handler has been told everything.
func (w *Waiter) Told() <-chan struct{} { return w.told }

// Remove ends the wait.
func (w *Waiter) Remove() { w.of.waiters.remove(w) }

// waiters are the waiters for a handler to deliver everything up to some position.
type waiters struct {
	count atomic.Int32 // len(all)

	mu  sync.Mutex
	all []*Waiter
}

// add adds a waiter for a position to the waiters of a registration.
func (w *waiters) add(of *Registration, position uint64) *Waiter {
	w.mu.Lock()
	defer w.mu.Unlock()

	waiter := &Waiter{of: of, position: position, told: make(chan struct{})}
	w.all = append(w.all, waiter)
	w.count.Add(1)
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

// wakeWaiters wakes the waiters whose position the handler has reached. The registration's goroutine
// calls it after each burst, and before each event while there are waiters.
func (r *Registration) wakeWaiters() {
	if !r.waiters.some() {
		return
	}
	position, ok := r.feed.delivered()
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
