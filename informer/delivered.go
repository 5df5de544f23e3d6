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

// WaitDelivered waits as WaitVersion does, and then until each registered handler has been told
// everything published so far: a test that has written an object can then check the outcome. It
// does not wait for later events, for a resync, or for a handler that is stopped meanwhile. A
// handler that calls it waits for itself.
//
// It returns the errors of WaitVersion, also while it waits for handlers, but no error if the
// object of the version was quarantined.
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

// debt is a handler's obligation to a waiter: to deliver everything up to a position.
type debt struct {
	to     *registration
	waiter *deliveryWaiter
}

// owed returns a debt of each handler. The handlers know of the waiters before any later event is
// published, and check for them before they deliver it. owed freezes the store, because the store's
// version may be visible a moment before the events of its write section are.
func (p *sharedProcessor) owed() (debts []debt) {
	p.store.Freeze(func(*indexer.Tx) { debts = p.owedHere() })
	return debts
}

// owedHere is owed for a caller in a write section.
func (p *sharedProcessor) owedHere() (debts []debt) {
	position := p.log.End()
	for _, r := range p.all() {
		debts = append(debts, debt{r, r.waiters.add(position)})
	}
	return debts
}

// settle removes the waiters of debts, when nobody waits for them any more.
func settle(debts []debt) {
	for _, d := range debts {
		d.to.waiters.remove(d.waiter)
	}
}

// waitTold waits until a handler has settled a debt.
func (c *core) waitTold(ctx context.Context, d debt) error {
	d.to.waiters.wake(d.to.feed) // the handler may have delivered before it knew of the waiter
	select {
	case <-d.waiter.told:
		return nil
	default:
	}
	select {
	case <-d.waiter.told:
	case <-d.to.stopCalled:
	case <-c.done():
		return c.status.because(fmt.Errorf("informer %s: %w", c.options.Name, ErrStopped))
	case <-ctx.Done():
		return c.status.because(fmt.Errorf("handler %q of informer %s is not told everything: %w", d.to.options.Name, c.options.Name, context.Cause(ctx)))
	}
	return nil
}

// deliveryWaiters are the waiters for a handler to deliver everything up to some position.
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

// toldAt returns the time when the handler had delivered everything, or zero.
func (w *deliveryWaiter) toldAt() time.Time {
	if !closed(w.told) {
		return time.Time{}
	}
	return w.at
}

// add adds a waiter for a position.
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
			waiter.at = time.Now()
			close(waiter.told)
		}
	}
}
