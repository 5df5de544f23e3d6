package informer

import (
	"context"
	"fmt"
)

// WaitFresh waits until the store is as new as the store of an informer that was just started, and
// then returns nil: in this run, the informer has read all objects of the source, or all changes
// since the run before, and it is watching the source. A watch has brought all changes since the
// run before once a bookmark has come or, from a second after it was opened, once no event has come
// for a moment: servers send these changes at once.
//
// [Informer.WaitSynced] is content with a store that an earlier run has read. Even a fresh store
// may be behind the server by a moment: to wait for a write, use [Informer.WaitVersion].
//
// WaitFresh returns [ErrStopped] if the informer stops first, and [ErrNotSynced] with the context's
// cause if ctx ends first; both come with the last error of a list or watch. If the arguments of
// New were invalid, it returns that error.
func (i *Informer[T]) WaitFresh(ctx context.Context) error { return i.core.waitFresh(ctx) }

func (c *core) waitFresh(ctx context.Context) error {
	if err := c.misused(); err != nil {
		return err
	}
	c.versions.waiting.Add(1)
	defer c.versions.waiting.Add(-1)
	for {
		changed := c.versions.channel()
		run := c.lastRun()
		if closed(run.read) && c.status.watchesAll() {
			return nil
		}
		select {
		case <-changed:
		case <-run.stopped:
			return c.status.because(fmt.Errorf("informer %s: %w", c.options.Name, ErrStopped))
		case <-ctx.Done():
			return c.status.because(fmt.Errorf("informer %s: %w: %w", c.options.Name, ErrNotSynced, context.Cause(ctx)))
		}
	}
}

// lastRun returns the current or last run.
func (c *core) lastRun() *run {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.run
}

// markRead records that the current run has read a part. Once a run has read all parts, it closes
// run.read. Only the processLoop calls it.
func (a *applier) markRead(p *part) {
	run := a.lastRun()
	if p.lastRead == run {
		return
	}
	p.lastRead = run
	if run.partsRead++; run.partsRead == len(a.parts) {
		close(run.read)
	}
}
