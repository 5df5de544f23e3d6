package informer

import (
	"time"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

// maxSection is the most changes that one write section makes, since lists
// wait for it.
const maxSection = 1000

// processLoop applies what is queued, until the run ends. Called again where an index
// function has ended its goroutine, it goes on with what is left.
func (c *core) processLoop(run *run) {
	for run.ctx.Err() == nil || len(c.changes) > 0 {
		if len(c.batch) > 0 || len(c.changes) > 0 {
			c.step(run)
			continue
		}
		c.batch = nil // while it waits it holds on to no memory
		batch, err := run.queue.Drain(run.ctx)
		if err != nil {
			return
		}
		c.batch = batch
	}
}

// step is applySome, measured where somebody asks for it.
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

// applySome applies the first deltas of the batch: single changes, as many as one
// write section takes, or else one delta of a full state.
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

// single tells whether a delta is a single change, rather than a part of a
// full state.
func (c *core) single(d *deltafifo.Delta) bool {
	return d.Op < deltafifo.Begin && c.parts[d.Part].staging == nil
}

// applyChanges makes what is left of c.changes and publishes them, in a write section.
// Where an index function ends the goroutine, that is what was made until then.
func (c *core) applyChanges() {
	defer c.versions.wake()
	defer c.markBookmarkedRead()
	tx := c.writer.Begin()
	defer tx.Commit()
	defer c.publishChanges(tx, c.changes)
	for ; c.applied < len(c.changes); c.applied++ {
		d := &c.changes[c.applied]
		switch {
		case len(c.parts) > 1 && c.outdated(tx, d):
			c.releaseObject(d.Part, d.Key) // its own one is as good as gone
		case d.Op == deltafifo.Added, d.Op == deltafifo.Modified:
			c.put(tx, d)
		case d.Op == deltafifo.Deleted:
			c.delete(tx, d)
		case d.Op == deltafifo.Poisoned:
			c.holdObject(&c.parts[d.Part], d)
		case d.Op == deltafifo.Bookmark:
			c.bookmark(d.Part, d.Version)
		}
		c.reached.advance(d.Part, d.Version)
	}
	c.changes = nil
}

// passed is called in a write section when a bookmark has come, with a version or without: all changes before it are in
// the store, also those since the version at which the store was filled, or at which the
// run before ended.
func (c *core) bookmark(i uint16, version string) {
	if version != "" { // it is the source's own
		c.tally.now[tallyBookmarks]++
	}
	if p := &c.parts[i]; p.content == filled {
		c.advanceContent(p)
	}
	c.bookmarked = append(c.bookmarked, i)
}

// notePassed is called when the write section is over: its changes are to be seen.
func (c *core) markBookmarkedRead() {
	for _, i := range c.bookmarked {
		c.markRead(&c.parts[i])
	}
	c.bookmarked = c.bookmarked[:0]
}

// publishChanges ends a write section: the store is at a version, and its handlers are
// told, at one moment. Those of the changes count that were made.
func (c *core) publishChanges(tx *indexer.Tx, changes []deltafifo.Delta) {
	tx.SetVersion(c.version())
	c.reached.publish()
	c.publish()
	c.arrivals.note(changes[:c.applied], c.processor.owedHere)
	c.noteSynced()
}

// publish shows what was appended to the log in a write section, and counted.
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
	c.recordStored(d, stored.New)
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
	delete(c.serverIDs, d.Key)
	c.releaseObject(d.Part, d.Key)
	c.append(e, d.Key, identity{d.UID, d.Version})
}

// identity returns the identity of a stored object, as the server sent it.
func (c *core) identity(key indexer.Key, obj any) identity {
	if id, ok := c.serverIDs.of(key, obj); ok {
		return id
	}
	return identityOf(obj)
}

// remember notes what has been stored of a delta: its identity, where the object does
// not tell it, and that it is not poisoned any more.
func (c *core) recordStored(d *deltafifo.Delta, stored any) {
	if c.options.Transform != nil {
		c.serverIDs.note(d.Key, stored, identity{d.UID, d.Version})
	}
	c.releaseObject(d.Part, d.Key)
}
