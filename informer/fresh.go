package informer

import (
	"context"
	"fmt"
)

// WaitFresh waits until the store is as new as that of an informer that was just started:
// all that the source had has been read in this run, or all that has changed since the run
// before, and the source is being watched. A watch has brought all changes when it has
// brought a bookmark or, a second after it was opened, nothing more for a moment: servers send
// them at once.
// [Informer.WaitSynced] is satisfied with what an earlier run has read. A watch may be
// behind the server by a moment: who waits for a write of its own asks
// [Informer.WaitVersion].
//
// It returns nil then, and otherwise why not, as WaitSynced does: [ErrStopped] if the
// informer stops before, [ErrNotSynced] together with the context's cause if ctx ends,
// each with the last error of a list or watch.
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

// lastRun returns the run of now, or else the last one.
func (c *core) lastRun() *run {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.run
}

// noteRead takes note of a full state of a part: a run has read its sources once all
// parts have had one in it. The processLoop calls it.
func (c *core) markRead(p *part) {
	run := c.lastRun()
	if p.lastRead == run {
		return
	}
	p.lastRead = run
	if run.partsRead++; run.partsRead == len(c.parts) {
		close(run.read)
	}
}
