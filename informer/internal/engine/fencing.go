package engine

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
	"github.com/tidemark-k8s/tidemark/informer/internal/fences"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
)

// The processLoop puts the answers to the program's own writes into the store, each in its own write section.
// It asks the fences of the source (package fences) what an answer, an event, a listed object or a version
// means for a key. Fences change only in write sections, and in Freeze between two of them.

// applyAnswer applies the answer to a write.
func (a *applier) applyAnswer(d *deltafifo.Delta) {
	on, _ := d.Object.(*answer)
	defer close(on.applied)
	p := &a.states[d.Source]
	listed := a.listed(p, on.Key)
	a.applyInSection(d.Source, &on.Answer)
	if listed.Object != nil && !p.next.hasFailed(on.Key) && !object.Same(a.listed(p, on.Key).Object, listed.Object) {
		p.staging.Put(on.Key, listed.Object, listed.Stamp) // the list kept the stored object, which this answer has replaced
	}
	a.checkShare()
	a.reportGhosts()
	a.versions.Wake()
}

// dropAnswer is called for an answer that was not applied before the informer stopped.
func (a *applier) dropAnswer(d *deltafifo.Delta) {
	on, _ := d.Object.(*answer)
	a.written.miss(&on.Answer)
	close(on.applied)
}

func (a *applier) applyInSection(source uint16, on *ownwrites.Answer) {
	tx := a.writer.Begin()
	defer tx.Commit()
	defer a.publishChanges(tx)
	defer a.publishFences(source)
	a.answered(tx, source, on)
}

// answered makes the change that an answer asks for, if the fences allow it.
func (a *applier) answered(tx *indexer.Tx, source uint16, on *ownwrites.Answer) {
	p := &a.states[source]
	switch {
	case a.outside(on):
		a.written.count(on, fences.Outside)
		return
	case on.Before.History != a.versions.history(): // the write may belong to either history
		a.written.count(on, fences.Doubtful)
		return
	case a.reached.versions[source] == "":
		a.written.miss(on)
		return
	case p.fences == nil:
		p.fences = new(fences.Fences)
	}
	d, now := modified(source, on), time.Now()
	a.endFences(tx, source, now)
	shown := a.cell(tx, p, source, on.Key)
	shown.Finalizers = hasFinalizers(shown.Object)
	verdict, result := p.fences.Answered(*on, shown, a.reached.versions[source], a.written.selects(source), now)
	switch verdict {
	case fences.Show: // but put keeps a newer object of another source
		a.put(tx, &d)
	case fences.Remove:
		a.remove(tx, p, &d, on, shown)
	}
	a.written.count(on, result)
}

// cell returns what the store holds of a source's object.
func (a *applier) cell(tx *indexer.Tx, p *sourceState, source uint16, key indexer.Key) fences.Cell {
	stored, ok := tx.Get(key)
	switch {
	case !ok || stored.Source != source:
		return fences.Cell{}
	case stored.Stamp == object.StampByHand:
		return fences.Cell{Identity: object.Identity{Key: key}, Object: stored.Object}
	}
	return fences.Cell{Identity: p.identity(key, stored.Object), Object: stored.Object, Stamp: stored.Stamp}
}

// remove deletes an object because of an answer. The handlers get one of three final states:
//
//   - the answer's object, if it is the deleted one
//   - if the object has left the selector, its last state at the version of the answer, as from a watch,
//     because controller-runtime's reads wait for that version
//   - otherwise, marked as lost, the last state that the program knows
func (a *applier) remove(tx *indexer.Tx, p *sourceState, d *deltafifo.Delta, on *ownwrites.Answer, shown fences.Cell) {
	if shown.Object == nil {
		return
	}
	last, was := shown.Object, shown.Identity
	tx.Delete(d.Key)
	e, same := deletion(last, last), was.SameObject(on.Identity)
	switch {
	case same && on.Object != nil:
		e = deletion(a.writer.Encode(on.Object), last)
	case same && on.Scope == ownwrites.Outside && hasVersion(last, was.Version):
		e = deletion(atVersion(last, on.Version), last)
	default:
		e.Flags = eventlog.Lost | eventlog.LastStored
	}
	a.forget(p, d.Key)
	a.append(e, was)
}

// hasVersion reports whether a stored object shows its version, which a transform may have removed. It
// returns false for a packed object, which cannot be copied with another version.
func hasVersion(stored any, version string) bool {
	_, ok := stored.(runtime.Object)
	m := object.Meta(stored)
	return ok && m != nil && m.GetResourceVersion() == version
}

// atVersion returns a copy of an object with another version.
func atVersion(stored any, version string) any {
	obj, _ := stored.(runtime.Object)
	moved := obj.DeepCopyObject()
	object.Meta(moved).SetResourceVersion(version)
	return moved
}

// passes asks the fence of an event's key, if there is one. It returns true for an event that changes
// nothing, because the store shows the same state or a newer one.
func (a *applier) passes(tx *indexer.Tx, d *deltafifo.Delta) bool {
	p := &a.states[d.Source]
	if d.Op == deltafifo.Bookmark || !p.fences.Has(d.Key) {
		return false
	}
	if d.Op == deltafifo.Poisoned { // its object is quarantined in any case
		p.fences.Failed(d.Key, d.Version)
		return false
	}
	shown := a.cell(tx, p, d.Source, d.Key)
	verdict := p.fences.Event(identityOf(d), a.received(d), shown, a.written.selects(d.Source))
	switch {
	case verdict == fences.Apply:
	case verdict == fences.Hold: // the event could be prepared
		a.recovered(p, d.Key)
	case d.Op == deltafifo.Deleted:
		a.forget(p, d.Key)
	default:
		a.recordStored(p, d, shown.Object)
	}
	return verdict != fences.Apply
}

// received returns the object of an event as the store would hold it.
func (a *applier) received(d *deltafifo.Delta) fences.Cell {
	if d.Op == deltafifo.Deleted {
		return fences.Cell{}
	}
	return fences.Cell{Identity: identityOf(d), Object: a.writer.Encode(d.Object), Stamp: d.Stamp}
}

// passFences ends the fences that the versions of a write section have passed. It is called at the end of the
// section.
func (a *applier) passFences(tx *indexer.Tx, changes []deltafifo.Delta) {
	for i := range changes {
		source := changes[i].Source
		if i > 0 && source == changes[i-1].Source || a.states[source].fences == nil {
			continue
		}
		a.endFences(tx, source, time.Now())
		a.publishFences(source)
	}
}

// endFences ends the fences of a source whose keys its version has passed without an echo. It ends none during
// a replacement, because that has been compared with the stored objects.
func (a *applier) endFences(tx *indexer.Tx, source uint16, now time.Time) {
	p := &a.states[source]
	if p.staging != nil {
		return
	}
	shown := func(key indexer.Key) fences.Cell { return a.cell(tx, p, source, key) }
	p.fences.Reached(a.reached.versions[source], now, shown, func(key indexer.Key, confirmed fences.Cell, ghost bool) {
		if ghost {
			a.written.ghost()
			a.ghosts = append(a.ghosts, Ghost{Key: key, Version: shown(key).Identity.Version})
		}
		a.restore(tx, p, source, key, confirmed)
	})
}

// restore puts the state that the watch has shown of an object back into the store. A quarantined object
// stays quarantined.
func (a *applier) restore(tx *indexer.Tx, p *sourceState, source uint16, key indexer.Key, confirmed fences.Cell) {
	shown := a.cell(tx, p, source, key)
	d := deltafifo.Delta{Op: deltafifo.Modified, Source: source, Key: key, UID: confirmed.Identity.UID, Version: confirmed.Identity.Version}
	if shown.Object != nil && shown.Identity == confirmed.Identity {
		return
	}
	if confirmed.Object == nil {
		if shown.Object != nil {
			tx.Delete(key)
			p.objects.forget(key)
			a.logLost(shown.Object, shown.Identity)
		}
		return
	}
	if a.outdated(tx, &d) {
		return
	}
	now, old, replaced := tx.Put(source, key, confirmed.Object, confirmed.Stamp)
	was := a.identity(key, old.Object) // of any source
	p.objects.put(now, confirmed.Identity)
	a.logPut(put{old: old.Object, now: now, replaced: replaced, was: was, is: confirmed.Identity})
}

// holdFenced asks the fences of a source whether the replacement in progress counts for their keys. The
// replacement may be older than what the program has written.
func (a *applier) holdFenced(source uint16, version string) {
	p := &a.states[source]
	if p.fences.Len() == 0 || p.newHistory || version == "" {
		return
	}
	for fenced := range p.fences.All() {
		key := fenced.Key
		listed, verdict := a.listed(p, key), fences.Apply
		a.writer.Freeze(func(tx *indexer.Tx) {
			if p.next.hasFailed(key) {
				verdict = p.fences.Failed(key, version)
			} else {
				verdict = p.fences.Listed(key, listed, a.cell(tx, p, source, key), version, a.written.selects(source))
			}
		})
		if verdict != fences.Apply {
			a.keepStored(p, key)
		}
	}
}

// listed returns the object of a key in the replacement in progress, if there is one.
func (a *applier) listed(p *sourceState, key indexer.Key) fences.Cell {
	if p.staging == nil {
		return fences.Cell{}
	}
	stored, stamp, ok := p.staging.Staged(key)
	if !ok {
		return fences.Cell{}
	}
	return fences.Cell{Identity: a.identityIn(p, key, stored), Object: stored, Stamp: stamp}
}

// publishFences publishes the counts of a source's fences.
func (a *applier) publishFences(source uint16) {
	p := &a.states[source]
	a.written.publish(source, p.complete, p.fences.Len())
}

// reportGhosts reports the ghosts of a write section after its end, because an observer may read the store.
func (a *applier) reportGhosts() {
	for _, ghost := range a.ghosts {
		a.report(ghost)
	}
	a.ghosts = a.ghosts[:0]
}

// hasFinalizers reports whether a stored object certainly has finalizers.
func hasFinalizers(stored any) bool {
	m := object.Meta(stored)
	return m != nil && len(m.GetFinalizers()) > 0
}
