package informer

import (
	"time"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

// maxSection is the highest number of changes in one write section. Lists wait for a section.
const maxSection = 1000

// processLoop applies queued deltas until the run ends. If an index function ends its goroutine,
// it is called again and goes on with the remaining deltas.
func (c *core) processLoop(run *run) {
	for run.ctx.Err() == nil || len(c.changes) > 0 {
		if len(c.batch) > 0 || len(c.changes) > 0 {
			c.applyMeasured(run)
			continue
		}
		c.batch = nil // free the memory before waiting
		batch, err := run.queue.Drain(run.ctx)
		if err != nil {
			return
		}
		c.batch = batch
	}
}

// applyMeasured calls applySome, and measures it if there is a meter.
func (c *core) applyMeasured(run *run) {
	defer c.processor.reportOverBound()
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

// applySome applies the first deltas of the batch: either a run of single changes in one write
// section, or one delta of a replacement.
func (c *core) applySome() {
	if len(c.changes) > 0 { // the remaining changes, after an index function has ended the goroutine
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
		defer c.status.countApplied(d.Part, 1) // also if an index function has ended the goroutine
		c.stage(d)
		return
	}
	c.changes, c.applied, c.batch = c.batch[:n], 0, c.batch[n:]
	c.applyChanges()
}

// single reports whether a delta is a single change, and not part of a replacement.
func (c *core) single(d *deltafifo.Delta) bool {
	return d.Op < deltafifo.Begin && c.parts[d.Part].staging == nil
}

// applyChanges makes the remaining changes of c.changes and publishes them, in one write section.
// If an index function ends the goroutine, applyChanges publishes the changes made so far.
func (c *core) applyChanges() {
	defer c.countApplied(c.changes)
	defer c.versions.wake()
	defer c.markBookmarkedRead()
	tx := c.writer.Begin()
	defer tx.Commit()
	defer c.publishChanges(tx, c.changes)
	for ; c.applied < len(c.changes); c.applied++ {
		d := &c.changes[c.applied]
		switch {
		case len(c.parts) > 1 && c.outdated(tx, d):
			c.endQuarantine(d.Part, d.Key) // the object belongs to another source now
		case d.Op == deltafifo.Added, d.Op == deltafifo.Modified:
			c.put(tx, d)
		case d.Op == deltafifo.Deleted:
			c.delete(tx, d)
		case d.Op == deltafifo.Poisoned:
			c.quarantineObject(&c.parts[d.Part], d)
		case d.Op == deltafifo.Bookmark:
			c.bookmark(d.Part, d.Version)
		}
		c.reached.advance(d.Part, d.Version)
	}
	c.changes = nil
}

// countApplied counts the changes of a write section that is complete, by their parts.
func (c *core) countApplied(changes []deltafifo.Delta) {
	if len(c.changes) > 0 { // an index function has ended the goroutine
		return
	}
	for len(changes) > 0 {
		part, n := changes[0].Part, 1
		for n < len(changes) && changes[n].Part == part {
			n++
		}
		c.status.countApplied(part, n)
		changes = changes[n:]
	}
}

// bookmark applies a bookmark, in a write section: all changes before it are in the store. A
// bookmark without a version means that the watch has brought all changes since the version of the
// initial state, or since the end of the run before.
func (c *core) bookmark(i uint16, version string) {
	if version != "" { // sent by the source, not made by the reflector
		c.tally.now[tallyBookmarks]++
	}
	if p := &c.parts[i]; p.content == filled {
		c.advanceContent(p)
	}
	c.bookmarked = append(c.bookmarked, i)
}

// markBookmarkedRead marks the parts with bookmarks as read. It is called after the write section,
// when the changes are visible.
func (c *core) markBookmarkedRead() {
	for _, i := range c.bookmarked {
		c.markRead(&c.parts[i])
	}
	c.bookmarked = c.bookmarked[:0]
}

// publishChanges sets the store's version and publishes the changes to the handlers, at the end of
// a write section. Only the changes made so far count.
func (c *core) publishChanges(tx *indexer.Tx, changes []deltafifo.Delta) {
	tx.SetVersion(c.version())
	c.reached.publish()
	c.publish()
	c.arrivals.note(changes[:c.applied], c.processor.owedHere)
	c.checkStoreSynced()
}

// publish makes the events and counts of a write section visible to readers.
func (c *core) publish() {
	c.tally.show()
	if m := c.measures.Load(); m != nil {
		m.recent.show()
	}
	c.processor.publish()
}

func (c *core) put(tx *indexer.Tx, d *deltafifo.Delta) {
	stored := tx.Put(d.Part, d.Key, d.Object, d.Stamp)
	if !stored.Replaced {
		c.removals.take(d.Key)
	}
	was := identity{uid: d.UID} // if the stamps are equal, the stored object has the same UID
	if stored.Replaced && stored.OldStamp != d.Stamp {
		was = c.identity(d.Key, stored.Old)
	}
	c.recordStored(d, stored.New)
	c.logPut(d.Key, put{old: stored.Old, now: stored.New, replaced: stored.Replaced, was: was, is: identity{d.UID, d.Version}})
}

func (c *core) delete(tx *indexer.Tx, d *deltafifo.Delta) {
	cached, deleted := tx.Delete(d.Key)
	if last, ok := c.removals.take(d.Key); ok && !deleted {
		cached, deleted = last, true
	}
	e := eventlog.Event{Pair: eventlog.Pair{Old: cached, New: cached}, Header: eventlog.Header{Kind: eventlog.Deleted, Flags: eventlog.Lost}}
	if !d.Lost {
		e.Old, e.Flags = c.writer.Encode(d.Object), 0
	}
	if !deleted {
		e.Flags |= eventlog.NotStored
	}
	delete(c.serverIDs, d.Key)
	c.endQuarantine(d.Part, d.Key)
	c.append(e, d.Key, identity{d.UID, d.Version})
}

// identity returns the server's identity of a stored object.
func (c *core) identity(key indexer.Key, obj any) identity {
	if id, ok := c.serverIDs.of(key, obj); ok {
		return id
	}
	return identityOf(obj)
}

// recordStored is called when the object of a delta has been stored. It records the server's
// identity, if the transform may have changed it, and takes the key out of the quarantine.
func (c *core) recordStored(d *deltafifo.Delta, stored any) {
	if c.options.Transform != nil {
		c.serverIDs.record(d.Key, stored, identity{d.UID, d.Version})
	}
	c.endQuarantine(d.Part, d.Key)
}
