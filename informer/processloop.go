package informer

import (
	"time"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

// maxSection is the highest number of changes in one write section. Lists wait for a section.
const maxSection = 1000

// processLoop applies queued deltas until the run ends.
func (c *core) processLoop(run *run) {
	for run.Context.Err() == nil {
		if len(c.batch) > 0 {
			c.applyMeasured(run)
			continue
		}
		c.batch = nil // free the memory before waiting
		batch, err := run.queue.Drain(run.Context)
		if err != nil {
			return
		}
		c.batch = batch
	}
}

// applyMeasured calls applySome, and measures it if there is a meter.
func (c *core) applyMeasured(run *run) {
	defer c.processor.ReportOverBound()
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
	n := 0
	for n < len(c.batch) && n < maxSection && c.single(&c.batch[n]) {
		n++
	}
	if n == 0 {
		d := &c.batch[0]
		c.batch = c.batch[1:]
		c.stage(d)
		c.status.countApplied(d.Part, 1)
		return
	}
	changes := c.batch[:n]
	c.batch = c.batch[n:]
	c.applyChanges(changes)
	c.markBookmarkedRead()
	c.versions.wake()
	c.countApplied(changes)
}

// single reports whether a delta is a single change, and not part of a replacement.
func (c *core) single(d *deltafifo.Delta) bool {
	return d.Op < deltafifo.Begin && c.parts[d.Part].staging == nil
}

// applyChanges makes single changes and publishes them, in one write section. If an index function
// ends the goroutine, applyChanges publishes the changes made so far.
func (c *core) applyChanges(changes []deltafifo.Delta) {
	c.bookmarked = c.bookmarked[:0]
	tx := c.writer.Begin()
	defer tx.Commit()
	defer c.publishChanges(tx)
	for i := range changes {
		d := &changes[i]
		switch d.Op {
		case deltafifo.Added, deltafifo.Modified:
			c.put(tx, d)
		case deltafifo.Deleted:
			c.delete(tx, d)
		case deltafifo.Poisoned:
			c.poisoned(tx, d)
		case deltafifo.Bookmark:
			c.bookmark(d.Part, d.Version)
		}
		c.reached.advance(d.Part, d.Version)
	}
}

// countApplied counts the changes of a write section, by their parts.
func (c *core) countApplied(changes []deltafifo.Delta) {
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
}

// publishChanges sets the store's version and publishes the changes to the handlers, at the end of
// a write section. Only the changes made so far count.
func (c *core) publishChanges(tx *indexer.Tx) {
	tx.SetVersion(c.version())
	c.reached.publish()
	c.publish()
	c.checkStoreSynced()
}

// publish makes the events and counts of a write section visible to readers.
func (c *core) publish() {
	c.tally.show()
	if m := c.measures.Load(); m != nil {
		m.Recent.Show()
	}
	c.processor.Publish()
}

// put stores the object of a delta.
func (c *core) put(tx *indexer.Tx, d *deltafifo.Delta) {
	p, key := &c.parts[d.Part], c.keyOf(d)
	if c.rewritesKeys.Load() {
		c.moveKey(tx, p, d, key)
	}
	if c.outdated(tx, d, key) {
		c.forget(p, d.Key) // the object belongs to another source now
		d.Key = key
		return
	}
	stored := tx.Put(d.Part, key, d.Object, d.Stamp)
	if !stored.Replaced {
		c.removals.take(key)
	}
	was := identity{uid: d.UID} // if the stamps are equal, the stored object has the same UID
	if stored.Replaced && stored.OldStamp != d.Stamp {
		was = c.identity(key, stored.Old)
	}
	c.recordStored(p, d, key, stored.New)
	c.logPut(key, put{old: stored.Old, now: stored.New, replaced: stored.Replaced, was: was, is: identity{d.UID, d.Version}})
	d.Key = key
}

// moveKey deletes the object of a delta under its earlier key, if the transform has given it another
// one since. The handlers get the last known state.
func (c *core) moveKey(tx *indexer.Tx, p *part, d *deltafifo.Delta, key indexer.Key) {
	old := p.objects.key(d.Key)
	if old == key || !c.holds(tx, d, old) {
		return
	}
	last, _ := c.takeOut(tx, old)
	c.logLost(old, last, p.identity(old, last))
}

// holds reports whether a key is that of the object of a delta, also if a user has put another object
// under it by hand, or has deleted it: then the handlers still know it.
func (c *core) holds(tx *indexer.Tx, d *deltafifo.Delta, key indexer.Key) bool {
	if c.parts[d.Part].objects.server(key) != d.Key {
		return false
	}
	if gone, ok := c.removals[key]; ok {
		return gone.part == d.Part
	}
	owner, stored := tx.Part(key)
	return stored && owner == d.Part
}

// takeOut deletes an object from the store. It returns the last one that the handlers know: a user may
// have deleted it by hand before.
func (c *core) takeOut(tx *indexer.Tx, key indexer.Key) (last any, known bool) {
	last, known = tx.Delete(key)
	if gone, ok := c.removals.take(key); ok && !known {
		return gone, true
	}
	return last, known
}

func (c *core) delete(tx *indexer.Tx, d *deltafifo.Delta) {
	p, key := &c.parts[d.Part], c.keyOf(d)
	if old := p.objects.key(d.Key); old != key && (d.Lost || c.holds(tx, d, old)) {
		key, d.Lost, d.Object = old, true, nil // the final state has another key than the stored one
	}
	server := d.Key
	d.Key = key
	if c.outdated(tx, d, key) {
		c.forget(p, server)
		return
	}
	cached, deleted := c.takeOut(tx, key)
	e := eventlog.Event{Pair: eventlog.Pair{Old: cached, New: cached}, Header: eventlog.Header{Kind: eventlog.Deleted, Flags: eventlog.Lost}}
	if !d.Lost {
		e.Old, e.Flags = c.writer.Encode(d.Object), 0
	}
	if !deleted {
		e.Flags |= eventlog.NotStored
	}
	c.forget(p, server)
	c.append(e, key, identity{d.UID, d.Version})
}

// poisoned quarantines the object of a delta. Its earlier version stays in the store.
func (c *core) poisoned(tx *indexer.Tx, d *deltafifo.Delta) {
	p := &c.parts[d.Part]
	if c.outdated(tx, d, p.objects.key(d.Key)) {
		c.forget(p, d.Key)
		return
	}
	was := p.objects.failures
	c.quarantine(&p.objects, d)
	c.recount(p, was)
}

// keyOf returns the key of the object of a delta in the store: that of the object, so that a program
// can compute it, or the server's if the object has no metadata. The delta has the server's key.
func (c *core) keyOf(d *deltafifo.Delta) indexer.Key {
	if !c.rewritesKeys.Load() || d.Recalled {
		return d.Key
	}
	if key, ok := keyOf(d.Object); ok {
		return key
	}
	return d.Key
}

// rewrites reports whether the transform has ever changed a key, UID or version.
func (c *core) rewrites() bool { return c.rewritesIdentity.Load() || c.rewritesKeys.Load() }

// identity returns the server's identity of a stored object of any source.
func (c *core) identity(key indexer.Key, obj any) identity {
	if c.rewrites() {
		for i := range c.parts {
			if id, ok := c.parts[i].objects.identity(key, obj); ok {
				return id
			}
		}
	}
	return identityOf(obj)
}

// identity returns the server's identity of a stored object of the source.
func (p *part) identity(key indexer.Key, obj any) identity {
	if id, ok := p.objects.identity(key, obj); ok {
		return id
	}
	return identityOf(obj)
}

// recordStored is called when the object of a delta has been stored. It records where the transform
// may have changed the object, and ends the object's quarantine.
func (c *core) recordStored(p *part, d *deltafifo.Delta, key indexer.Key, stored any) {
	if len(p.objects.entries) == 0 && !c.rewrites() {
		return
	}
	was := p.objects.failures
	c.release(&p.objects, d.Key)
	p.objects.put(d.Key, key, stored, identity{d.UID, d.Version})
	c.recount(p, was)
}

// forget forgets what is recorded of the object of a server's key.
func (c *core) forget(p *part, server indexer.Key) {
	if len(p.objects.entries) == 0 {
		return
	}
	was := p.objects.failures
	c.release(&p.objects, server)
	p.objects.remove(server)
	c.recount(p, was)
}
