package informer

import (
	"context"
	"fmt"
)

// WaitSynced is [Informer.WaitSynced].
func (c *core) WaitSynced(ctx context.Context) error {
	if c.misuse != nil {
		return c.misused()
	}
	over := ErrNotSynced
	select {
	case <-c.synced:
	case <-c.stopped:
		over = ErrStopped
	case <-ctx.Done():
	}
	switch { // synced counts before stopped, if both are true
	case c.isSynced():
		return nil
	case ctx.Err() == nil:
		return c.status.because(fmt.Errorf("informer %s: %w", c.options.Name, over))
	case !c.wasStarted():
		return fmt.Errorf("informer %s: %w: it was not started: %w", c.options.Name, ErrNotSynced, context.Cause(ctx))
	}
	return c.status.because(fmt.Errorf("informer %s: %w: %w", c.options.Name, ErrNotSynced, context.Cause(ctx)))
}

// wasStarted reports whether a run has begun.
func (c *core) wasStarted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.phase != created
}
