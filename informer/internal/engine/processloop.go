package engine

import (
	"sync/atomic"
	"time"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/delivery"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
	"github.com/tidemark-k8s/tidemark/informer/internal/measure"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/shard"
)

// applier applies queued deltas to the store, and logs the changes. It knows neither the sources nor the life
// of the informer. Only the processLoop calls its methods, except for IsSynced.
type applier struct {
	options    Options
	writer     *indexer.Writer
	log        *eventlog.Log
	processor  *delivery.SharedProcessor
	status     status
	versions   versionWaiters
	hooks      hooks
	inspection atomic.Pointer[measure.Inspection] // nil until the informer is inspected
	synced     chan struct{}                      // closed once the store holds all objects of every source
	share      atomic.Pointer[shard.Set]          // what the informer reads, set before the first delta; nil for everything
	// Goroutines that wait for an object also read allQuarantined.
	allQuarantined quarantine
	tally          tally
	written        written

	// Only the processLoop uses the fields below, except that any goroutine may read identities from states.
	states  []sourceState
	reached *reached
	batch   []deltafifo.Delta // drained from the queue, not applied yet
	ghosts  []Ghost           // of the current write section
	report  func(Event)       // passes an event to the observer
}

// maxSection is the highest number of changes in one write section. Lists wait for a section to end.
const maxSection = 1000

// processLoop applies queued deltas until the run ends.
func (c *Core) processLoop() {
	for c.run.Context.Err() == nil {
		if len(c.batch) > 0 {
			c.applyMeasured()
			continue
		}
		c.batch = nil // free the memory before waiting
		batch, err := c.queue.Drain(c.run.Context)
		if err != nil {
			return
		}
		c.batch = batch
	}
}

// applyMeasured calls applySome, and measures it if there are metrics.
func (c *Core) applyMeasured() {
	m := c.hooks.metrics
	if m == nil {
		c.applySome()
		return
	}
	m.Queued(len(c.batch) + c.queue.Len())
	began := time.Now()
	c.applySome()
	m.Applied(time.Since(began), c.writer.Indexer().Version())
	m.Queued(len(c.batch) + c.queue.Len())
}

// applySome applies the first deltas of the batch: a run of single changes in one write section, one delta of
// a replacement, or the answer to one own write.
func (a *applier) applySome() {
	defer a.processor.MergeBehind()
	n := 0
	for n < len(a.batch) && n < maxSection && a.single(&a.batch[n]) {
		n++
	}
	if n == 0 {
		d := &a.batch[0]
		a.batch = a.batch[1:]
		if d.Op == deltafifo.Answered {
			a.applyAnswer(d)
			return
		}
		a.stage(d)
		a.status.countApplied(d.Source, 1)
		return
	}
	changes := a.batch[:n]
	a.batch = a.batch[n:]
	a.applyChanges(changes)
	a.reportGhosts()
	a.versions.Wake()
	a.countApplied(changes)
}

// single reports whether a delta is a single change, and not part of a replacement.
func (a *applier) single(d *deltafifo.Delta) bool {
	return d.Op < deltafifo.Begin && a.states[d.Source].staging == nil
}

// applyChanges makes single changes and publishes them, in one write section. If an index function ends the
// goroutine, it publishes the changes made so far.
func (a *applier) applyChanges(changes []deltafifo.Delta) {
	a.checkChanges(changes)
	tx := a.writer.Begin()
	defer tx.Commit()
	defer a.publishChanges(tx)
	defer a.passFences(tx, changes)
	for i := range changes {
		d := &changes[i]
		if a.states[d.Source].fences.Len() == 0 || !a.passes(tx, d) {
			a.change(tx, d)
		}
		if !d.Unordered {
			a.reached.advance(d.Source, d.Version)
		}
	}
}

// change makes a single change.
func (a *applier) change(tx *indexer.Tx, d *deltafifo.Delta) {
	switch d.Op {
	case deltafifo.Added, deltafifo.Modified:
		a.put(tx, d)
	case deltafifo.Deleted:
		a.delete(tx, d)
	case deltafifo.Poisoned:
		a.poisoned(tx, d)
	case deltafifo.Bookmark:
		a.tally.count(bookmarks, 1)
	}
}

// countApplied counts the changes of a write section, by their sources.
func (a *applier) countApplied(changes []deltafifo.Delta) {
	for len(changes) > 0 {
		source, n := changes[0].Source, 1
		for n < len(changes) && changes[n].Source == source {
			n++
		}
		a.status.countApplied(source, n)
		changes = changes[n:]
	}
}

// publishChanges sets the store's version and publishes the changes made so far to the handlers, at the end
// of a write section.
func (a *applier) publishChanges(tx *indexer.Tx) {
	tx.SetVersion(a.version())
	a.publish()
	a.reached.publish() // after the log, so that a wait for this version then waits for these events
	a.markStoreSynced()
}

// publish makes the events and counts of a write section visible to readers.
func (a *applier) publish() {
	a.tally.show()
	if m := a.inspection.Load(); m != nil {
		m.Recent.Show()
	}
	a.processor.Publish()
}

// put stores the object of a delta.
func (a *applier) put(tx *indexer.Tx, d *deltafifo.Delta) {
	p := &a.states[d.Source]
	if a.outdated(tx, d) {
		a.forget(p, d.Key) // the object belongs to another source now
		return
	}
	now, old, replaced := tx.Put(d.Source, d.Key, d.Object, d.Stamp)
	was := object.Identity{UID: d.UID} // if the stamps are equal, the stored object has the same UID
	if replaced && old.Stamp != d.Stamp {
		was = a.identity(d.Key, old.Object)
	}
	a.recordStored(p, d, now)
	a.logPut(put{old: old.Object, now: now, replaced: replaced, was: was, is: identityOf(d)})
}

// delete deletes the object of a delta. The handlers get its final state, or the stored state if the final
// one is lost. An informer of one source also delivers the delete of an object that is not stored. With
// several sources that delete may be older than what another source has delivered, so it is not delivered.
func (a *applier) delete(tx *indexer.Tx, d *deltafifo.Delta) {
	p, key, id := &a.states[d.Source], d.Key, identityOf(d)
	if a.outdated(tx, d) {
		a.forget(p, key)
		return
	}
	last, deleted := tx.Delete(key)
	switch {
	case deleted && d.Lost:
		id.UID = a.identity(key, last).UID // the stored object may be an earlier one of that name
		a.logLost(last, id)
	case deleted:
		a.append(deletion(a.writer.Encode(d.Object), last), id)
	case !d.Lost && len(a.states) == 1: // the store does not change
		final := a.writer.Encode(d.Object)
		a.appendUncounted(deletion(final, final), id)
	}
	a.forget(p, key)
}

// poisoned quarantines the object of a delta. Its earlier version stays in the store.
func (a *applier) poisoned(tx *indexer.Tx, d *deltafifo.Delta) {
	p := &a.states[d.Source]
	if a.outdated(tx, d) {
		a.forget(p, d.Key)
		return
	}
	if a.quarantine(&p.objects, d) {
		a.status.quarantined.Add(1)
	}
}

// identity returns the server's identity of a stored object of any source.
func (a *applier) identity(key indexer.Key, obj any) object.Identity {
	if a.options.Transform != nil {
		for i := range a.states {
			if id, ok := a.states[i].objects.identity(key, obj); ok {
				return id
			}
		}
	}
	return object.IdentityOf(key, obj)
}

// identity returns the server's identity of a stored object of the source.
func (p *sourceState) identity(key indexer.Key, obj any) object.Identity {
	if id, ok := p.objects.identity(key, obj); ok {
		return id
	}
	return object.IdentityOf(key, obj)
}

// has reports whether a stored object of the source is the object of a delta, in the same version. A recalled
// object need not be read again.
func (p *sourceState) has(d *deltafifo.Delta, stored any) bool {
	if p.objects.hide() {
		return p.identity(d.Key, stored) == identityOf(d)
	}
	return d.Recalled && object.Same(d.Object, stored) || identityOf(d).ShownBy(stored)
}

// recordStored is called when the object of a delta has been stored. It records the identity that the
// transform has changed, and ends the object's quarantine.
func (a *applier) recordStored(p *sourceState, d *deltafifo.Delta, stored any) {
	a.recordIdentity(&p.objects, stored, d)
	a.recovered(p, d.Key)
}

// recordIdentity records the identity of an object that has arrived, if the transform has changed it.
// Without a transform, the object shows its identity, and that of an earlier one is removed.
func (a *applier) recordIdentity(in *exceptions, stored any, d *deltafifo.Delta) {
	if a.options.Transform != nil {
		in.put(stored, identityOf(d))
	} else {
		in.forget(d.Key)
	}
}

// forget removes what is recorded about the object of a key.
func (a *applier) forget(p *sourceState, key indexer.Key) {
	p.objects.forget(key)
	a.recovered(p, key)
}

// quarantine records the failure of the object of a delta. It returns true if the object has not failed before.
func (a *applier) quarantine(in *exceptions, d *deltafifo.Delta) (entered bool) {
	err, _ := d.Object.(error)
	return a.allQuarantined.enter(in, d.Key, err)
}

// recovered ends the quarantine of an object.
func (a *applier) recovered(p *sourceState, key indexer.Key) {
	if a.allQuarantined.leave(&p.objects, key) {
		a.status.quarantined.Add(-1)
	}
}

// identityOf returns the identity of the object of a delta.
func identityOf(d *deltafifo.Delta) object.Identity {
	return object.Identity{Key: d.Key, UID: d.UID, Version: d.Version}
}
