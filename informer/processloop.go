package informer

import (
	"time"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

// maxSection is the largest number of changes in one write section. Lists wait for a section, so it
// must be short.
const maxSection = 1000

// processLoop applies queued deltas until the run ends. If an index function ends its goroutine, it
// is called again and continues with the rest.
func (c *core) processLoop(run *run) {
	for run.ctx.Err() == nil || len(c.changes) > 0 {
		if len(c.batch) > 0 || len(c.changes) > 0 {
			c.step(run)
			continue
		}
		c.batch = nil // hold no memory while waiting
		batch, err := run.queue.Drain(run.ctx)
		if err != nil {
			return
		}
		c.batch = batch
	}
}

// step calls applySome, and measures it if there is a meter.
func (c *core) step(run *run) {
	defer c.processor.tellLagging()
	m := c.hooks.meter
	if m == nil {
		c.applySome()
		return
	}
	m.queued(len(c.batch) + run.queue.Len())
	began := time.Now()
	c.applySome()
	m.applied(time.Since(began), c.writer.Indexer().Version())
	m.queued(len(c.batch) + run.queue.Len())
}

// applySome applies the first deltas of the batch: as many single changes as one write section
// takes, or else one delta of a full state.
func (c *core) applySome() {
	if len(c.changes) > 0 { // an index function has ended the goroutine
		c.applyChanges()
		return
	}
	n := 0
	for n < len(c.batch) && n < maxSection && c.single(&c.batch[n]) {
		n++
	}
	if n == 0 {
		d := &c.batch[0]
		c.batch = c.batch[1:]
		c.stage(d)
		return
	}
	c.changes, c.applied, c.batch = c.batch[:n], 0, c.batch[n:]
	c.applyChanges()
}

// single reports whether a delta is a change of its own, not part of a full state.
func (c *core) single(d *deltafifo.Delta) bool {
	return d.Op < deltafifo.Begin && c.parts[d.Part].staging == nil
}

// applyChanges makes the rest of c.changes and publishes them, in one write section. If an index
// function ends the goroutine, the changes made until then are published.
func (c *core) applyChanges() {
	defer c.versions.wake()
	defer c.notePassed()
	tx := c.writer.Begin()
	defer tx.Commit()
	defer c.publishChanges(tx, c.changes)
	for ; c.applied < len(c.changes); c.applied++ {
		d := &c.changes[c.applied]
		switch {
		case len(c.parts) > 1 && c.outdated(tx, d):
			c.releaseKey(d.Part, d.Key) // this source has none of its own any more
		case d.Op == deltafifo.Added, d.Op == deltafifo.Modified:
			c.put(tx, d)
		case d.Op == deltafifo.Deleted:
			c.delete(tx, d)
		case d.Op == deltafifo.Poisoned:
			c.quarantine(&c.parts[d.Part], d)
		case d.Op == deltafifo.Bookmark:
			c.passed(d.Part, d.Version)
		}
		c.reached.advance(d.Part, d.Version)
	}
	c.changes = nil
}

// passed handles a bookmark, with a version or without, in a write section. All changes before the
// bookmark are in the store now, including those since the store was filled or the previous run
// ended.
func (c *core) passed(i uint16, version string) {
	if version != "" { // the source sent it
		c.tally.now[tallyBookmarks]++
	}
	if p := &c.parts[i]; p.content == filled {
		c.advance(p)
	}
	c.marked = append(c.marked, i)
}

// notePassed completes the bookmarks of a write section after it has ended, when readers see its
// changes.
func (c *core) notePassed() {
	for _, i := range c.marked {
		c.noteRead(&c.parts[i])
	}
	c.marked = c.marked[:0]
}

// publishChanges ends a write section: it moves the store's version and wakes the handlers at one
// moment. Only changes already made count.
func (c *core) publishChanges(tx *indexer.Tx, changes []deltafifo.Delta) {
	tx.SetVersion(c.version())
	c.reached.show()
	c.publish()
	c.arrivals.note(changes[:c.applied], c.processor.owedHere)
	c.noteSynced()
}

// publish makes the events and counts of a write section visible.
func (c *core) publish() {
	c.tally.show()
	if m := c.measures.Load(); m != nil {
		m.recent.show()
	}
	c.processor.publish()
}

func (c *core) put(tx *indexer.Tx, d *deltafifo.Delta) {
	stored := tx.Put(d.Part, d.Key, d.Object, d.Stamp)
	was := identity{uid: d.UID} // nearly always
	if stored.Replaced && stored.OldStamp != d.Stamp {
		was = c.identity(d.Key, stored.Old)
	}
	c.remember(d, stored.New)
	c.logPut(d.Key, put{old: stored.Old, now: stored.New, replaced: stored.Replaced, was: was, is: identity{d.UID, d.Version}})
}

func (c *core) delete(tx *indexer.Tx, d *deltafifo.Delta) {
	cached, deleted := tx.Delete(d.Key)
	e := eventlog.Event{Pair: eventlog.Pair{Old: cached, New: cached}, Header: eventlog.Header{Kind: eventlog.Deleted, Flags: eventlog.Lost}}
	if !d.Lost {
		e.Old, e.Flags = c.writer.Encode(d.Object), 0
	}
	if !deleted {
		e.Flags |= eventlog.Unknown
	}
	delete(c.serverIdentities, d.Key)
	c.releaseKey(d.Part, d.Key)
	c.append(e, d.Key, identity{d.UID, d.Version})
}

// identity returns the server's identity of a stored object.
func (c *core) identity(key indexer.Key, obj any) identity {
	if id, ok := c.serverIdentities.of(key, obj); ok {
		return id
	}
	return identityOf(obj)
}

// remember records the server's identity of a stored object, where the object does not show it, and
// releases its key from quarantine.
func (c *core) remember(d *deltafifo.Delta, stored any) {
	if c.options.Transform != nil {
		c.serverIdentities.note(d.Key, stored, identity{d.UID, d.Version})
	}
	c.releaseKey(d.Part, d.Key)
}
