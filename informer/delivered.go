package informer

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
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
	owed := make(chan []debt, 1)
	go func() { owed <- c.processor.owed() }() // it may wait for a write section with an index function that is stuck
	var debts []debt
	select {
	case debts = <-owed:
	case <-ctx.Done():
		go func() { settle(<-owed) }()
		return c.status.because(fmt.Errorf("informer %s writes to its store: %w", c.options.Name, context.Cause(ctx)))
	}
	defer settle(debts)
	for _, d := range debts {
		if err := c.waitTold(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// debt is what a handler is owed: everything up to the waiter's position.
type debt struct {
	to     *registration
	waiter *deliveryWaiter
}

// owed returns what the handlers of now are owed. They know of the waiters before
// anything more is published, and so look at them before they tell that. The version
// of the store may show a moment before the events of its write section are published;
// nothing is half-done here.
func (p *sharedProcessor) owed() (debts []debt) {
	p.store.Freeze(func(*indexer.Tx) { debts = p.owedHere() })
	return debts
}

// owedHere is owed for who is in a write section.
func (p *sharedProcessor) owedHere() (debts []debt) {
	position := p.log.End()
	for _, r := range p.all() {
		debts = append(debts, debt{r, r.waiters.add(position)})
	}
	return debts
}

// settle forgets debts that nobody waits for any more.
func settle(debts []debt) {
	for _, d := range debts {
		d.to.waiters.remove(d.waiter)
	}
}

// waitTold waits until a handler has been told what it is owed.
func (c *core) waitTold(ctx context.Context, d debt) error {
	d.to.waiters.wake(d.to.feed) // it may have been told before it knew of the waiter
	select {
	case <-d.waiter.told:
		return nil
	default:
	}
	select {
	case <-d.waiter.told:
	case <-d.to.stopping:
	case <-c.done():
		return c.status.because(fmt.Errorf("informer %s: %w", c.options.Name, ErrStopped))
	case <-ctx.Done():
		return c.status.because(fmt.Errorf("handler %q of informer %s is not told everything: %w", d.to.options.Name, c.options.Name, context.Cause(ctx)))
	}
	return nil
}

// interest is how many want to know of each call of a handler: those who wait for it, and
// the stopwatch. It costs next to nothing to ask whether there are some: the registration's
// goroutine does so before each call.
type interest struct{ atomic.Int32 }

func (i *interest) some() bool { return i.Load() > 0 }

// deliveryWaiters are those who wait for a handler to be told everything up to some
// position.
type deliveryWaiters struct {
	interest *interest
	count    atomic.Int32 // len(all)

	mu  sync.Mutex
	all []*deliveryWaiter
}

type deliveryWaiter struct {
	position uint64
	told     chan struct{}
	at       time.Time // when told was closed
}

// toldAt returns when the handler was told everything, zero where it was not.
func (w *deliveryWaiter) toldAt() time.Time {
	if !closed(w.told) {
		return time.Time{}
	}
	return w.at
}

// add adds one that waits for a position.
func (w *deliveryWaiters) add(position uint64) *deliveryWaiter {
	w.mu.Lock()
	defer w.mu.Unlock()

	waiter := &deliveryWaiter{position: position, told: make(chan struct{})}
	w.all = append(w.all, waiter)
	w.count.Add(1)
	w.interest.Add(1)
	return waiter
}

func (w *deliveryWaiters) remove(waiter *deliveryWaiter) {
	w.mu.Lock()
	defer w.mu.Unlock()

	if i := slices.Index(w.all, waiter); i >= 0 {
		w.all = slices.Delete(w.all, i, i+1)
		w.count.Add(-1)
		w.interest.Add(-1)
	}
}

// some tells whether somebody waits.
func (w *deliveryWaiters) some() bool { return w.count.Load() > 0 }

// wake wakes those whose position a feed has reached. The registration's goroutine
// calls it after each burst, and before each event while somebody waits.
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
			waiter.at = time.Now()
			close(waiter.told)
		}
	}
}
