package informer

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// WaitDelivered waits as WaitVersion does, and then until each registered handler has been told
// everything published so far: a test that has written an object can then check the outcome. It
// does not wait for later events, for a resync, or for a handler that is stopped meanwhile. A
// handler that calls it waits for itself.
//
// It returns the errors of WaitVersion, also while it waits for handlers, but no error if the
// object of the version was quarantined; and [ErrExited] if a handler ends its goroutine meanwhile.
func (i *Informer[T]) WaitDelivered(ctx context.Context, version string) error {
	return i.core.WaitDelivered(ctx, version)
}

// WaitDelivered is [Informer.WaitDelivered].
func (c *core) WaitDelivered(ctx context.Context, version string) error {
	if err := c.waitReached(ctx, version); err != nil {
		return err
	}
	added := make(chan []*deliveryWaiter, 1)
	go func() { added <- c.processor.addWaiters() }() // it may wait for a write section with an index function that is stuck
	var waiters []*deliveryWaiter
	select {
	case waiters = <-added:
	case <-ctx.Done():
		go func() { removeWaiters(<-added) }()
		return c.status.because(fmt.Errorf("informer %s writes to its store: %w", c.options.Name, context.Cause(ctx)))
	}
	defer removeWaiters(waiters)
	for _, w := range waiters {
		if err := c.waitTold(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// addWaiters adds a waiter to each handler, for everything published so far. The handlers know of
// the waiters before any later event is published, and check for them before they deliver it.
// addWaiters freezes the store, because the store's version may be visible a moment before the
// events of its write section are.
func (p *sharedProcessor) addWaiters() (waiters []*deliveryWaiter) {
	p.store.Freeze(func(*indexer.Tx) {
		position := p.log.End()
		for _, r := range p.all() {
			waiters = append(waiters, r.waiters.add(r, position))
		}
	})
	return waiters
}

func removeWaiters(waiters []*deliveryWaiter) {
	for _, w := range waiters {
		w.of.waiters.remove(w)
	}
}

// waitTold waits until a waiter's handler has been told everything up to its position, or is stopped.
func (c *core) waitTold(ctx context.Context, w *deliveryWaiter) error {
	w.of.waiters.wake(w.of.feed) // the handler may have delivered before it knew of the waiter
	select {
	case <-w.told:
		return nil
	default:
	}
	select {
	case <-w.told:
	case <-w.of.stopCalled:
		return w.of.Err()
	case <-c.done():
		return c.status.because(fmt.Errorf("informer %s: %w", c.options.Name, ErrStopped))
	case <-ctx.Done():
		return c.status.because(fmt.Errorf("handler %q of informer %s is not told everything: %w", w.of.options.Name, c.options.Name, context.Cause(ctx)))
	}
	return nil
}

// deliveryWaiters are the waiters for a handler to deliver everything up to some position.
type deliveryWaiters struct {
	count atomic.Int32 // len(all)

	mu  sync.Mutex
	all []*deliveryWaiter
}

// deliveryWaiter waits for a handler to be told everything up to a position of the log.
type deliveryWaiter struct {
	of       *registration
	position uint64
	told     chan struct{} // closed when the handler has been told
}

// add adds a waiter for a position to the waiters of a registration.
func (w *deliveryWaiters) add(of *registration, position uint64) *deliveryWaiter {
	w.mu.Lock()
	defer w.mu.Unlock()

	waiter := &deliveryWaiter{of: of, position: position, told: make(chan struct{})}
	w.all = append(w.all, waiter)
	w.count.Add(1)
	return waiter
}

func (w *deliveryWaiters) remove(waiter *deliveryWaiter) {
	w.mu.Lock()
	defer w.mu.Unlock()

	if i := slices.Index(w.all, waiter); i >= 0 {
		w.all = slices.Delete(w.all, i, i+1)
		w.count.Add(-1)
	}
}

// some reports whether there are waiters.
func (w *deliveryWaiters) some() bool { return w.count.Load() > 0 }

// wake wakes the waiters whose position a feed has reached. The registration's goroutine calls it
// after each burst, and before each event while there are waiters.
func (w *deliveryWaiters) wake(f feed) {
	if !w.some() {
		return
	}
	position, ok := f.delivered()
	if !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()

	for _, waiter := range w.all {
		if waiter.position <= position && !closed(waiter.told) {
			close(waiter.told)
		}
	}
}
