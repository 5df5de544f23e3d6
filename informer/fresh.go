package informer

import (
	"context"
	"fmt"
)

// WaitFresh waits until the store is as new as that of an informer just started: this run has read
// all objects of the source, or all changes since the previous run, and the source is being
// watched. A watch has brought all changes when it has brought a bookmark or, a second after it was
// opened, nothing more for a moment: servers send pending changes at once. [Informer.WaitSynced]
// does not require a read in this run. A watch may be behind the server by a moment: to wait for a
// write of your own, use [Informer.WaitVersion].
//
// It returns nil then, and otherwise the errors of WaitSynced: [ErrStopped] if the informer stops
// before, [ErrNotSynced] with the context's cause if ctx ends, each with the last error of a list
// or watch.
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

// lastRun returns the present run, or else the last one.
func (c *core) lastRun() *run {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.run
}

// noteRead records a full state of a part. A run has read its sources when each part has had a full
// state in the run. The processLoop calls it.
func (c *core) noteRead(p *part) {
	run := c.lastRun()
	if p.readIn == run {
		return
	}
	p.readIn = run
	if run.partsRead++; run.partsRead == len(c.parts) {
		close(run.read)
	}
}
