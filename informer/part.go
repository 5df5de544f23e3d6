package informer

import (
	"math"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// part is the processLoop's state of one source. The sources of an informer are disjoint at any one
// version: a full state of one source says nothing about the objects of others. But an object may
// move between sources, and their reports arrive in any order, see moved.go.
type part struct {
	content    content
	versioned  bool // a full state had a version
	quarantine quarantine
	readIn     *run        // the last run in which a full state was applied
	fill       *State[any] // a user's state for the source, nil once it is in the store
	// untrusted says that a run distrusted all stored objects, and that no full state has replaced
	// them since. A run may end before that.
	untrusted bool
	// renewed says that a full state has replaced all stored objects since a shared value was found
	// changed.
	renewed bool

	// While a full state arrives:
	staging          *indexer.Staging
	fresh            bool              // it belongs to another history than the stored objects
	anew             bool              // no stored object is to be trusted
	serverIdentities serverIdentities  // of the objects put into it
	stagedQuarantine quarantine        // its quarantined objects
	changes          int               // number of objects it put or deleted at commit
	expected         []deltafifo.Delta // its changes, collected while somebody expects an event
}

// content says how much of a source the store holds.
type content uint8

const (
	empty    content = iota
	filled           // a user's state; the source may have more
	complete         // a full state, or a user's state and all changes since
)

// maxSources is the most sources of an informer. One more number is kept for objects written by
// hand.
const maxSources = math.MaxUint16

// resume returns the version at which a run continues, and how. A source without list versions
// starts anew, since the versions of its objects say nothing. So does a part that is untrusted, has
// quarantined objects, was written by hand, or did not end in a trusted watch. If a transform
// renames objects, every part is read again: the new run does not know the renamed keys.
func (c *core) resume(i uint16) (version string, how reflector.Resume) {
	p := &c.parts[i]
	switch {
	case p.fill != nil:
		return p.fill.Version, reflector.ResumeUnlessFake // at the user's word
	case !p.versioned:
		return "", reflector.ResumeNever
	case p.untrusted || len(p.quarantine) > 0 || c.renames.Load() || !c.followed[i].Load() || c.writtenByHand.Load():
		how = reflector.ResumeNever
	case p.content == filled:
		how = reflector.ResumeUnlessFake
	default:
		how = reflector.ResumeOfServer
	}
	return c.reached.of(i), how
}

// drop gives up the full state that was arriving, if any.
func (c *core) drop(p *part) {
	if p.staging != nil {
		p.staging.Abort()
	}
	c.releaseAll(p.stagedQuarantine)
	p.staging, p.serverIdentities, p.stagedQuarantine, p.changes = nil, nil, nil, 0
}

// stage takes one delta of a full state.
func (c *core) stage(d *deltafifo.Delta) {
	p := &c.parts[d.Part]
	switch d.Op {
	case deltafifo.Begin:
		c.drop(p)
		*p = part{content: p.content, fill: p.fill, versioned: p.versioned, quarantine: p.quarantine, readIn: p.readIn, untrusted: p.untrusted, renewed: p.renewed, fresh: d.Fresh, anew: d.Anew}
		p.staging = c.writer.Stage(d.Part)
	case deltafifo.Abort:
		c.drop(p)
	case deltafifo.Commit:
		c.commit(d.Part, d.Version)
	case deltafifo.Added, deltafifo.Modified:
		c.stagePut(p, d)
	case deltafifo.Deleted:
		c.release(p.stagedQuarantine, d.Key)
		p.staging.Drop(d.Key)
	case deltafifo.Poisoned:
		p.staging.Keep(d.Key)
		c.hold(&p.stagedQuarantine, d)
	}
}

// stagePut keeps the stored object if the listed one has the same identity, and drops the listed
// one; otherwise it puts the listed one. An object written by hand never counts as the server's
// version, whatever its metadata say.
func (c *core) stagePut(p *part, d *deltafifo.Delta) {
	c.release(p.stagedQuarantine, d.Key)
	id := identity{d.UID, d.Version}
	if !p.fresh && !p.anew && d.Version != "" && p.staging.KeepIf(d.Key, func(stored any, stamp uint64) bool {
		if stamp == stampByHand || c.identity(d.Key, stored) != id {
			return false
		}
		c.noteStaged(p, d.Key, stored, id) // another source may put its own version before this full state is committed
		return true
	}) {
		return
	}
	stored := d.Object
	if d.Recalled {
		p.staging.PutStored(d.Key, stored, d.Stamp)
	} else {
		stored = p.staging.Put(d.Key, stored, d.Stamp)
	}
	c.noteStaged(p, d.Key, stored, id)
}

// noteStaged records the server's identity of an object in a full state, where the transform may
// have changed it.
func (c *core) noteStaged(p *part, key indexer.Key, obj any, id identity) {
	if c.options.Transform != nil {
		p.serverIdentities.note(key, obj, id)
	}
}

// identityIn returns the server's identity of an object in a full state.
func (c *core) identityIn(p *part, key indexer.Key, obj any) identity {
	if id, ok := p.serverIdentities.of(key, obj); ok {
		return id
	}
	return c.identity(key, obj) // the full state kept the stored object, until a user replaced it
}

// commit applies a full state. The first full state of an informer is not logged: every
// registration replays the store instead.
func (c *core) commit(i uint16, version string) {
	p := &c.parts[i]
	staging := p.staging
	first, initial := !c.processor.begun, p.content == empty
	c.advance(p)
	p.staging, p.versioned = nil, p.versioned || version != ""
	p.untrusted = p.untrusted && !p.anew
	p.renewed = p.renewed || p.anew && closed(c.sharing.broken)
	if p.fresh || c.reached.of(i) == "" {
		c.reached.set(i, version)
	} else {
		c.reached.advance(i, version)
	}
	visitor := indexer.Visitor{Commit: func(tx *indexer.Tx) { c.publishReplacement(tx, p, first) }}
	if !first || c.options.Transform != nil {
		visitor.Deleted = func(key indexer.Key, last any) {
			p.changes++
			c.logSwept(first, key, last)
		}
		visitor.Put = func(key indexer.Key, old, obj any, replaced bool) {
			p.changes++
			c.logListed(p, first, initial, key, old, obj, replaced)
		}
	}
	if wentBack := p.fresh && version != ""; len(c.parts) > 1 && !wentBack {
		visitor.Outdated = c.outdatedIn(p)
	}
	defer c.committed(i, first) // also where an index function has ended the goroutine
	staging.Commit(c.version(), visitor)
}

// committed is called when a full state has been applied.
func (c *core) committed(i uint16, first bool) {
	p := &c.parts[i]
	if p.changes > 0 || first && c.writer.Indexer().Len() > 0 {
		c.status.changed(i)
	}
	p.serverIdentities, p.changes = nil, 0
	c.serverIdentities.trim(c.writer)
	if p.content == complete {
		c.noteRead(p)
	}
	c.versions.wake()
}

// advance moves a part's content on when a full state is applied. If a user fills the store, the
// first full state of the part is the user's.
func (c *core) advance(p *part) {
	switch {
	case p.content == empty && p.fill != nil:
		p.content, p.fill = filled, nil
	case p.content != complete:
		p.content = complete
		c.completed++
	}
}

// logSwept logs the delete of an object that a full state no longer holds.
func (c *core) logSwept(first bool, key indexer.Key, last any) {
	id := c.identity(key, last)
	delete(c.serverIdentities, key)
	if !first {
		c.logLost(key, last, id)
	}
}

// logListed logs an object that a full state has put.
func (c *core) logListed(p *part, first, initial bool, key indexer.Key, old, obj any, replaced bool) {
	was := identity{}
	if replaced {
		was = c.identity(key, old)
	}
	id := c.identityIn(p, key, obj)
	if c.arrivals.some() {
		p.expected = append(p.expected, deltafifo.Delta{Op: deltafifo.Modified, Key: key, Version: id.version})
	}
	if c.options.Transform != nil {
		c.serverIdentities.note(key, obj, id)
	}
	if !first {
		c.logPut(key, put{old: old, now: obj, replaced: replaced, was: was, is: id, initial: initial})
	}
}

// publishReplacement publishes a full state, in the write section that makes it visible. It updates
// Status before any handler is told.
func (c *core) publishReplacement(tx *indexer.Tx, p *part, first bool) {
	was := len(p.quarantine)
	c.releaseAll(p.quarantine)
	p.quarantine, p.stagedQuarantine = p.stagedQuarantine, nil
	c.recount(p, was)
	c.reached.show()
	if first {
		c.tally.now[eventlog.Added] += uint64(c.writer.Indexer().Len()) //nolint:gosec // never negative
	}
	c.publish()
	c.arrivals.note(p.expected, c.processor.owedHere)
	p.expected = nil
	if first {
		c.processor.begin(tx)
	}
	c.noteSynced()
}

// noteSynced marks the store synced once it holds all objects of every source. The caller is in a
// write section.
func (c *core) noteSynced() {
	if c.complete() && !c.isSynced() {
		c.processor.synced()
		c.status.synced()
		close(c.synced)
	}
}

// complete reports whether the store holds all objects of every source.
func (c *core) complete() bool { return c.completed == len(c.parts) }

func (c *core) isSynced() bool { return closed(c.synced) }
