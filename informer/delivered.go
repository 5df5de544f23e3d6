package informer

import (
	"context"
	"fmt"

	"github.com/tidemark-k8s/tidemark/informer/internal/delivery"
)

// WaitDelivered waits until the store holds every change up to a resourceVersion, and then until each
// registered handler has been told everything published so far: a test that has written an object can
// then check the outcome. With several sources, all have to reach the version. WaitDelivered does not wait
// for later events, for a resync, or for a handler that is stopped meanwhile. A handler that calls it waits
// for itself.
//
// It returns the errors of [Informer.WaitFor], but none for an object that is quarantined.
func (i *Informer[T]) WaitDelivered(ctx context.Context, version string) error {
	return i.core.WaitDelivered(ctx, version)
}

// WaitDelivered is [Informer.WaitDelivered].
func (c *core) WaitDelivered(ctx context.Context, version string) error {
	if err := c.waitReached(ctx, version); err != nil {
		return err
	}
	added := make(chan []*delivery.Waiter, 1)
	go func() { added <- c.processor.AddWaiters() }() // it may wait for a write section with an index function that is stuck
	var waiters []*delivery.Waiter
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

func removeWaiters(all []*delivery.Waiter) {
	for _, w := range all {
		w.Remove()
	}
}

// waitTold waits until a waiter's handler has been told everything up to its position, or is stopped.
func (c *core) waitTold(ctx context.Context, w *delivery.Waiter) error {
	select {
	case <-w.Told():
		return nil
	default:
	}
	select {
	case <-w.Told():
	case <-w.Handler().Stopped():
	case <-c.stopped:
		return c.status.because(fmt.Errorf("informer %s: %w", c.options.Name, ErrStopped))
	case <-ctx.Done():
		return c.status.because(fmt.Errorf("handler %q of informer %s is not told everything: %w", w.Handler().Name(), c.options.Name, context.Cause(ctx)))
	}
	return nil
}
