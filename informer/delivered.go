package informer

import (
	"context"
	"fmt"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// WaitDelivered waits as WaitVersion does, and then until each handler that is
// registered by then has been told everything that the store was told: a test
// that has written something can look at what came of it. A handler that is
// stopped meanwhile is not waited for. Called from a handler, it waits for
// itself.
//
// It returns what WaitVersion returns, and the same errors where it is the
// handlers that keep it waiting.
func (i *Informer[T]) WaitDelivered(ctx context.Context, version string) error {
	return i.core.WaitDelivered(ctx, version)
}

// WaitDelivered is [Informer.WaitDelivered].
func (c *core) WaitDelivered(ctx context.Context, version string) error {
	if err := c.WaitVersion(ctx, version); err != nil {
		return err
	}
	// The version shows before the write section ends that brought it. Behind
	// that section its events are published.
	var registrations []*registration
	c.writer.Freeze(func(*indexer.Tx) { registrations = c.processor.all() })
	for _, r := range registrations {
		if err := c.waitRested(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// waitRested waits until a handler has been told all that is published by now.
func (c *core) waitRested(ctx context.Context, r *registration) error {
	select {
	case <-c.processor.nextRest(r):
	case <-r.stopping:
	case <-c.done():
		return c.status.because(fmt.Errorf("informer %s: %w", c.options.Name, ErrStopped))
	case <-ctx.Done():
		return c.status.because(fmt.Errorf("handler %q of informer %s is not told everything: %w", r.options.Name, c.options.Name, context.Cause(ctx)))
	}
	return nil
}

// nextRest returns a channel that is closed when a registration sleeps, having
// delivered all that is published by now.
func (p *sharedProcessor) nextRest(r *registration) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.resting[r] == nil {
		if p.resting == nil {
			p.resting = make(map[*registration]chan struct{})
		}
		p.resting[r] = make(chan struct{})
	}
	ch := p.resting[r]
	// One that sleeps may have been given more, and is then about to be woken.
	if r.asleep && r.replay.Load() == nil && r.position.Load() == p.log.end.Load() {
		p.rested(r)
	}
	return ch
}

// rested tells who waits for it that a registration has nothing left to
// deliver. The caller holds mu.
func (p *sharedProcessor) rested(r *registration) {
	if ch := p.resting[r]; ch != nil {
		close(ch)
		delete(p.resting, r)
	}
}
