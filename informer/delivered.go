package informer

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// WaitDelivered waits as WaitVersion does, and then until each handler that is
// registered by then has been told everything that was published by then: a test
// that has written something can look at what came of it. What comes later, or a
// resync, is not waited for, nor a handler that is stopped meanwhile. Called from a
// handler, it waits for itself.
//
// It returns what WaitVersion returns, but no error where the object of that version could
// not be prepared, and the same errors where it is the handlers that keep it waiting.
func (i *Informer[T]) WaitDelivered(ctx context.Context, version string) error {
	return i.core.WaitDelivered(ctx, version)
}

// WaitDelivered is [Informer.WaitDelivered].
func (c *core) WaitDelivered(ctx context.Context, version string) error {
	if err := c.waitReached(ctx, version); err != nil {
		return err
	}
	var registrations []*registration
	var position uint64
	looked := make(chan struct{})
	go func() { // a stuck index function holds up the write section, and not who waits
		defer close(looked)
		registrations, position = c.processor.published()
	}()
	select {
	case <-looked:
	case <-ctx.Done():
		return c.status.because(fmt.Errorf("informer %s writes to its store: %w", c.options.Name, context.Cause(ctx)))
	}
	for _, r := range registrations {
		if err := c.waitTold(ctx, r, position); err != nil {
			return err
		}
	}
	return nil
}

// waitTold waits until a handler has been told everything up to a position.
func (c *core) waitTold(ctx context.Context, r *registration, position uint64) error {
	told, forget := r.waiters.add(r.feed, position)
	defer forget()
	select {
	case <-told:
		return nil
	default:
	}
	select {
	case <-told:
	case <-r.stopping:
	case <-c.done():
		return c.status.because(fmt.Errorf("informer %s: %w", c.options.Name, ErrStopped))
	case <-ctx.Done():
		return c.status.because(fmt.Errorf("handler %q of informer %s is not told everything: %w", r.options.Name, c.options.Name, context.Cause(ctx)))
	}
	return nil
}

// deliveryWaiters are those who wait for a handler to be told everything up to some
// position.
type deliveryWaiters struct {
	count atomic.Int32 // len(all)

	mu  sync.Mutex
	all []*deliveryWaiter
}

type deliveryWaiter struct {
	position uint64
	told     chan struct{}
}

// add returns a channel that is closed when a feed has been told up to a position.
func (w *deliveryWaiters) add(f feed, position uint64) (told <-chan struct{}, forget func()) {
	waiter := &deliveryWaiter{position, make(chan struct{})}
	w.mu.Lock()
	w.all = append(w.all, waiter)
	w.count.Add(1)
	w.mu.Unlock()
	w.wake(f) // it may have been told before it knew of the waiter
	return waiter.told, func() { w.remove(waiter) }
}

func (w *deliveryWaiters) remove(waiter *deliveryWaiter) {
	w.mu.Lock()
	defer w.mu.Unlock()

	if i := slices.Index(w.all, waiter); i >= 0 {
		w.all = slices.Delete(w.all, i, i+1)
		w.count.Add(-1)
	}
}

// some tells whether somebody waits. It costs next to nothing: the registration's
// goroutine asks after each call of its handler.
func (w *deliveryWaiters) some() bool { return w.count.Load() > 0 }

// wake wakes those whose position a feed has reached.
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
