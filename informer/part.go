package informer

import (
	"math"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// part is what the processLoop knows of one source. The sources of an informer
// are disjoint at any one version: a full state of one says nothing of the others'
// objects. But an object may move, and its sources tell of that in any order, see
// moved.go.
type part struct {
	content    content
	versioned  bool // a full state had a version
	quarantine quarantine
	lastRead   *run        // the last run in which a full state has been applied
	fill       *State[any] // what a user has filled it with, until that is in the store
	// untrusted says that a run was to trust nothing of what is stored, and that no full
	// state has taken its place since: a run may end before.
	untrusted bool
	// renewed says that a full state has taken the place of all that is stored since a shared
	// value was found changed.
	replacedSinceBroken bool

	// While a full state arrives:
	staging        *indexer.Staging
	fresh          bool              // its history is another one than before
	replacesAll    bool              // nothing of what is stored is to be trusted
	serverIDs      serverIdentities  // of the objects that were put
	nextQuarantine quarantine        // its own
	changes        int               // how many objects it has put or deleted, when it is committed
	expected       []deltafifo.Delta // the changes that it makes, while somebody expects an event
}

// content is what the store holds of a source.
type content uint8

const (
	empty    content = iota
	filled           // what a user has filled it with; nothing says yet that the source has no more
	complete         // a full state, or what it was filled with and all changes since
)

// maxSources is how many parts there may be. One number more is of what is put by hand.
const maxSources = math.MaxUint16

// resume returns the version that a run goes on from, and how. A source whose lists
// have none is begun anew: those of its objects say nothing. What is not to be trusted,
// could not be prepared, was written by hand, or was about to be read anew is read again, and so is all where a transform renames objects: what
// it has made of their keys is not known any more.
func (c *core) resume(i uint16) (version string, how reflector.Resume) {
	p := &c.parts[i]
	switch {
	case p.fill != nil:
		return p.fill.Version, reflector.ResumeUnlessFake // its user has said so
	case !p.versioned:
		return "", reflector.ResumeNever
	case p.untrusted || len(p.quarantine) > 0 || c.rewritesKeys.Load() || !c.followed[i].Load() || c.writtenByHand.Load():
		how = reflector.ResumeNever
	case p.content == filled:
		how = reflector.ResumeUnlessFake
	default:
		how = reflector.ResumeOfServer
	}
	return c.reached.version(i), how
}

// drop gives up the full state that was arriving, if there is one.
func (c *core) abort(p *part) {
	if p.staging != nil {
		p.staging.Abort()
	}
	c.releaseAll(p.nextQuarantine)
	p.staging, p.serverIDs, p.nextQuarantine, p.changes = nil, nil, nil, 0
}

// stage takes one delta of a full state.
func (c *core) stage(d *deltafifo.Delta) {
	p := &c.parts[d.Part]
	switch d.Op {
	case deltafifo.Begin:
		c.abort(p)
		*p = part{content: p.content, fill: p.fill, versioned: p.versioned, quarantine: p.quarantine, lastRead: p.lastRead, untrusted: p.untrusted, replacedSinceBroken: p.replacedSinceBroken, fresh: d.Fresh, replacesAll: d.Anew}
		p.staging = c.writer.Stage(d.Part)
	case deltafifo.Abort:
		c.abort(p)
	case deltafifo.Commit:
		c.commit(d.Part, d.Version)
	case deltafifo.Added, deltafifo.Modified:
		c.stagePut(p, d)
	case deltafifo.Deleted:
		c.release(p.nextQuarantine, d.Key)
		p.staging.Drop(d.Key)
	case deltafifo.Poisoned:
		p.staging.Keep(d.Key)
		c.hold(&p.nextQuarantine, d)
	}
}

// stagePut keeps the stored object where the listed one is the same version of
// it, and drops the twin; otherwise it puts the listed one. What was put by hand is no
// version of the server's, whatever its metadata say.
func (c *core) stagePut(p *part, d *deltafifo.Delta) {
	c.release(p.nextQuarantine, d.Key)
	id := identity{d.UID, d.Version}
	if !p.fresh && !p.replacesAll && d.Version != "" && p.staging.KeepIf(d.Key, func(stored any, stamp uint64) bool {
		if stamp == stampByHand || c.identity(d.Key, stored) != id {
			return false
		}
		c.recordStaged(p, d.Key, stored, id) // another source may put its own version before this full state is committed
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
	c.recordStaged(p, d.Key, stored, id)
}

// noteStaged notes the identity of an object that a full state holds, where the transform
// may have changed it.
func (c *core) recordStaged(p *part, key indexer.Key, obj any, id identity) {
	if c.options.Transform != nil {
		p.serverIDs.note(key, obj, id)
	}
}

// identityIn returns the identity of an object that a full state holds, as the server
// sent it.
func (c *core) identityIn(p *part, key indexer.Key, obj any) identity {
	if id, ok := p.serverIDs.of(key, obj); ok {
		return id
	}
	return c.identity(key, obj) // one that it has kept, until a user replaced it
}

// commit applies a full state. The first one of an informer is not logged:
// every registration replays the store instead.
func (c *core) commit(i uint16, version string) {
	p := &c.parts[i]
	staging := p.staging
	first, initial := !c.processor.begun, p.content == empty
	c.advanceContent(p)
	p.staging, p.versioned = nil, p.versioned || version != ""
	p.untrusted = p.untrusted && !p.replacesAll
	p.replacedSinceBroken = p.replacedSinceBroken || p.replacesAll && closed(c.sharing.broken)
	if p.fresh || c.reached.version(i) == "" {
		c.reached.set(i, version)
	} else {
		c.reached.advance(i, version)
	}
	visitor := indexer.Visitor{Commit: func(tx *indexer.Tx) { c.publishReplace(tx, p, first) }}
	if !first || c.options.Transform != nil {
		visitor.Deleted = func(key indexer.Key, last any) {
			p.changes++
			c.replaceDeleted(first, key, last)
		}
		visitor.Put = func(key indexer.Key, old, obj any, replaced bool) {
			p.changes++
			c.replacePut(p, first, initial, key, old, obj, replaced)
		}
	}
	if wentBack := p.fresh && version != ""; len(c.parts) > 1 && !wentBack {
		visitor.Outdated = c.outdatedInReplace(p)
	}
	defer c.finishReplace(i, first) // also where an index function has ended the goroutine
	staging.Commit(c.version(), visitor)
}

// settled is called when a full state has been applied.
func (c *core) finishReplace(i uint16, first bool) {
	p := &c.parts[i]
	if p.changes > 0 || first && c.writer.Indexer().Len() > 0 {
		c.status.changed(i)
	}
	p.serverIDs, p.changes = nil, 0
	c.serverIDs.trim(c.writer)
	if p.content == complete {
		c.markRead(p)
	}
	c.versions.wake()
}

// advance is called when a full state of a part is applied: the first one of those that a
// user fills is what it is filled with.
func (c *core) advanceContent(p *part) {
	switch {
	case p.content == empty && p.fill != nil:
		p.content, p.fill = filled, nil
	case p.content != complete:
		p.content = complete
		c.completed++
	}
}

// swept logs an object that a full state does not hold any more.
func (c *core) replaceDeleted(first bool, key indexer.Key, last any) {
	id := c.identity(key, last)
	delete(c.serverIDs, key)
	if !first {
		c.logLost(key, last, id)
	}
}

// listed logs an object that a full state has put.
func (c *core) replacePut(p *part, first, initial bool, key indexer.Key, old, obj any, replaced bool) {
	was := identity{}
	if replaced {
		was = c.identity(key, old)
	}
	id := c.identityIn(p, key, obj)
	if c.arrivals.some() {
		p.expected = append(p.expected, deltafifo.Delta{Op: deltafifo.Modified, Key: key, Version: id.version})
	}
	if c.options.Transform != nil {
		c.serverIDs.note(key, obj, id)
	}
	if !first {
		c.logPut(key, put{old: old, now: obj, replaced: replaced, was: was, is: id, initial: initial})
	}
}

// shown publishes a full state, in the write section that shows it. What Status tells of
// it is counted before anybody is told.
func (c *core) publishReplace(tx *indexer.Tx, p *part, first bool) {
	was := len(p.quarantine)
	c.releaseAll(p.quarantine)
	p.quarantine, p.nextQuarantine = p.nextQuarantine, nil
	c.recount(p, was)
	c.reached.publish()
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

// noteSynced is called in a write section: the store is synced once it holds all of every
// source.
func (c *core) noteSynced() {
	if c.complete() && !c.isSynced() {
		c.processor.synced()
		c.status.synced()
		close(c.synced)
	}
}

// complete tells whether the store holds all of every source.
func (c *core) complete() bool { return c.completed == len(c.parts) }

func (c *core) isSynced() bool { return closed(c.synced) }
