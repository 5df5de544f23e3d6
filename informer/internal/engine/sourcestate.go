package engine

import (
	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
	"github.com/tidemark-k8s/tidemark/informer/internal/fences"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// sourceState is the processLoop's state of one source. The sources of an informer are disjoint at any one
// version, so a replacement of one source does not affect the objects of the others. But an object may move
// between sources, which report the move in any order; see moved.go.
type sourceState struct {
	objects  exceptions     // what the store does not show about the source's objects
	fences   *fences.Fences // of the objects that the program has written; nil before the first answer
	complete bool           // a replacement has been applied

	// The fields below belong to the replacement in progress.
	staging    *indexer.Staging
	newHistory bool       // the stored objects belong to an earlier history
	next       exceptions // becomes objects at the commit
}

// maxSources is the highest number of sources. It is bounded because a change of the source with the lowest
// version looks at the versions of all sources.
const maxSources = 4096

// abort drops the replacement in progress, if there is one.
func (a *applier) abort(p *sourceState) {
	a.allQuarantined.leaveAll(&p.next)
	p.staging, p.next = nil, exceptions{}
}

// stage applies one delta of a replacement.
func (a *applier) stage(d *deltafifo.Delta) {
	p := &a.states[d.Source]
	switch d.Op {
	case deltafifo.Begin:
		a.abort(p)
		p.newHistory = d.NewHistory
		p.staging = a.writer.Stage(d.Source)
	case deltafifo.Abort:
		a.abort(p)
	case deltafifo.Commit:
		a.commit(d.Source, d.Version)
	case deltafifo.Added, deltafifo.Modified:
		a.stagePut(p, d)
	case deltafifo.Deleted:
		a.unstage(p, d.Key)
	case deltafifo.Poisoned:
		keepEarlier(p, d)
		a.quarantine(&p.next, d)
	}
}

// stagePut adds a listed object to a replacement. It keeps the stored object if that is the same version of
// the same object. An object put by hand never counts as the same version.
func (a *applier) stagePut(p *sourceState, d *deltafifo.Delta) {
	kept := !p.newHistory && d.Version != "" && p.staging.Keep(d.Key, func(stored any, stamp uint64) bool {
		if stamp == object.StampByHand || !p.has(d, stored) {
			return false
		}
		a.recordStaged(p, d, stored)
		return true
	})
	if !kept {
		a.recordStaged(p, d, p.staging.Put(d.Key, d.Object, d.Stamp))
	}
}

// keepEarlier keeps the stored version of an object that fails in a replacement, unless it was put by hand.
// A version of an earlier history counts as none: it does not compare with those of the new one.
func keepEarlier(p *sourceState, d *deltafifo.Delta) {
	p.staging.Keep(d.Key, func(stored any, stamp uint64) bool {
		id := p.identity(d.Key, stored)
		if stamp == object.StampByHand || !id.SameObject(identityOf(d)) {
			return false
		}
		if p.newHistory {
			id.Version = ""
		}
		p.next.put(stored, id)
		return true
	})
}

// keepStored makes the replacement in progress hold the object that the store has under a key, or none if the
// store has none.
func (a *applier) keepStored(p *sourceState, key indexer.Key) {
	p.staging.Drop(key)
	p.next.forget(key)
	if p.staging.Keep(key, nil) {
		p.next.keep(key, &p.objects)
	}
}

// unstage removes an object from a replacement.
func (a *applier) unstage(p *sourceState, key indexer.Key) {
	p.staging.Drop(key)
	p.next.forget(key)
	a.allQuarantined.leave(&p.next, key)
}

// recordStaged is called when a replacement holds the object of a delta. It records the identity that the
// transform has changed, and ends the object's quarantine.
func (a *applier) recordStaged(p *sourceState, d *deltafifo.Delta, obj any) {
	a.recordIdentity(&p.next, obj, d)
	a.allQuarantined.leave(&p.next, d.Key)
}

// identityIn returns the server's identity of an object in a source's replacement.
func (a *applier) identityIn(p *sourceState, key indexer.Key, obj any) object.Identity {
	if id, ok := p.next.identity(key, obj); ok {
		return id
	}
	return p.identity(key, obj)
}

// commit applies a replacement. It does not log the first replacement of an informer, because every
// registration replays the store instead.
func (a *applier) commit(i uint16, version string) {
	p := &a.states[i]
	a.holdFenced(i, version)
	first, initial := !a.processor.Started(), !p.complete
	visitor := indexer.Visitor{Commit: func(tx *indexer.Tx) { // nothing is recorded earlier, because an index function may abort the commit
		a.committed(p, i, version)
		if now := a.version(); now != "" {
			tx.SetVersion(now)
		}
		a.publishReplace(tx, p, first)
	}}
	if !first {
		visitor.Deleted = func(key indexer.Key, last any) { a.logLost(last, p.identity(key, last)) }
		visitor.Put = func(key indexer.Key, old, obj any, replaced bool) {
			a.replacePut(p, initial, key, old, obj, replaced)
		}
	}
	// newHistory alone is no proof: the first list of a source sets it if its version arrives after its items.
	if rolledBack := p.newHistory && p.complete && version != ""; len(a.states) > 1 && !rolledBack {
		visitor.Outdated = a.outdatedInReplace(p)
	}
	if changes := p.staging.Commit("", visitor); changes > 0 {
		a.status.changed(i)
	}
	a.checkShare()
	a.versions.Wake()
}

// committed records a replacement of source i, in its write section.
func (a *applier) committed(p *sourceState, i uint16, version string) {
	p.staging, p.complete = nil, true
	if p.newHistory || version == "" { // the versions of the fences no longer compare
		p.fences = nil
	}
	a.publishFences(i)
	if p.newHistory && a.reached.versions[i] != "" { // earlier versions do not compare with later ones
		a.versions.histories.Add(1)
	}
	if p.newHistory || a.reached.versions[i] == "" {
		a.reached.set(i, version)
	} else {
		a.reached.advance(i, version)
	}
}

// replacePut logs an object that a replacement has put.
func (a *applier) replacePut(p *sourceState, initial bool, key indexer.Key, old, obj any, replaced bool) {
	was := object.Identity{}
	if replaced {
		was = a.identity(key, old)
	}
	a.logPut(put{old: old, now: obj, replaced: replaced, was: was, is: a.identityIn(p, key, obj), initial: initial})
}

// publishReplace publishes a replacement, in its write section. It updates the counters of Status before any
// handler gets the changes.
func (a *applier) publishReplace(tx *indexer.Tx, p *sourceState, first bool) {
	was := len(p.objects.failed)
	a.allQuarantined.leaveAll(&p.objects)
	p.objects.replace(&p.next)
	a.status.quarantined.Add(int64(len(p.objects.failed) - was))
	if first {
		a.tally.count(eventlog.Added, a.writer.Indexer().Len())
	}
	a.publish()
	if first {
		a.processor.StartFeeds(tx.Snapshot())
	}
	a.reached.publish() // as in publishChanges
	a.markStoreSynced()
}

// markStoreSynced marks the informer as synced once all sources are complete. It is called in a write
// section.
func (a *applier) markStoreSynced() {
	if !a.IsSynced() && a.complete() {
		a.processor.MarkSynced()
		a.status.synced()
		close(a.synced)
	}
}

// complete reports whether all sources are complete.
func (a *applier) complete() bool {
	for i := range a.states {
		if !a.states[i].complete {
			return false
		}
	}
	return true
}

func (a *applier) IsSynced() bool { return closed(a.synced) }
