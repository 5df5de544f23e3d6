package informer

import (
	"math"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
)

// part is what the processLoop knows of one source. The sources of an informer
// are disjoint at any one version: a full state of one says nothing of the others'
// objects. But an object may move, and its sources tell of that in any order, see
// moved.go.
type part struct {
	committed  bool // a full state has been applied
	versioned  bool // and one had a version
	quarantine quarantine
	readIn     *run // the last run in which a full state has been applied
	// untrusted says that a run was to trust nothing of what is stored, and that no full
	// state has taken its place since: a run may end before.
	untrusted bool

	// While a full state arrives:
	staging *indexer.Staging
	fresh   bool       // equal versions prove nothing
	aside   asides     // of the objects that were put
	sick    quarantine // its own
	changes int        // how many objects it has put or deleted, when it is committed
}

// maxSources is how many parts there may be. One number more is of what is put by hand.
const maxSources = math.MaxUint16

// resume returns the version that another run goes on from. A source whose
// lists have none is begun anew: those of its objects say nothing.
func (c *core) resume(i uint16) string {
	if !c.parts[i].versioned {
		return ""
	}
	return c.reached.of(i)
}

// drop gives up the full state that was arriving, if there is one.
func (c *core) drop(p *part) {
	if p.staging != nil {
		p.staging.Abort()
	}
	c.releaseAll(p.sick)
	p.staging, p.aside, p.sick, p.changes = nil, nil, nil, 0
}

// stage takes one delta of a full state.
func (c *core) stage(d *deltafifo.Delta) {
	p := &c.parts[d.Part]
	switch d.Op {
	case deltafifo.Begin:
		c.drop(p)
		*p = part{committed: p.committed, versioned: p.versioned, quarantine: p.quarantine, readIn: p.readIn, untrusted: p.untrusted, fresh: d.Fresh}
		p.staging = c.writer.Stage(d.Part)
	case deltafifo.Abort:
		c.drop(p)
	case deltafifo.Commit:
		c.commit(d.Part, d.Version)
	case deltafifo.Added, deltafifo.Modified:
		c.stagePut(p, d)
	case deltafifo.Deleted:
		c.release(p.sick, d.Key)
		p.staging.Drop(d.Key)
	case deltafifo.Poisoned:
		p.staging.Keep(d.Key)
		c.hold(&p.sick, d.Key, d.Version)
	}
}

// stagePut keeps the stored object where the listed one is the same version of
// it, and drops the twin; otherwise it puts the listed one. What was put by hand is no
// version of the server's, whatever its metadata say.
func (c *core) stagePut(p *part, d *deltafifo.Delta) {
	c.release(p.sick, d.Key)
	id := identity{d.UID, d.Version}
	if !p.fresh && d.Version != "" && p.staging.KeepIf(d.Key, func(stored any, stamp uint64) bool {
		return stamp != stampByHand && c.identity(d.Key, stored) == id
	}) {
		return
	}
	stored := d.Object
	if d.Recalled {
		p.staging.PutStored(d.Key, stored, d.Stamp)
	} else {
		stored = p.staging.Put(d.Key, stored, d.Stamp)
	}
	if c.options.Transform != nil {
		p.aside.note(d.Key, stored, id)
	}
}

// identityIn returns the identity of an object that a full state holds, as the server
// sent it.
func (c *core) identityIn(p *part, key indexer.Key, obj any) identity {
	if id, ok := p.aside.of(key, obj); ok {
		return id
	}
	return c.identity(key, obj) // one that it has kept, until a user replaced it
}

// commit applies a full state. The first one of an informer is not logged:
// every registration replays the store instead.
func (c *core) commit(i uint16, version string) {
	p := &c.parts[i]
	staging := p.staging
	first, initial := !c.processor.begun, !p.committed
	if initial {
		c.committed++
	}
	p.staging, p.committed, p.versioned = nil, true, p.versioned || version != ""
	p.untrusted = p.untrusted && !p.fresh
	if p.fresh || c.reached.of(i) == "" {
		c.reached.set(i, version)
	} else {
		c.reached.advance(i, version)
	}
	visitor := indexer.Visitor{Commit: func(tx *indexer.Tx) { c.shown(tx, p, first) }}
	if !first || c.options.Transform != nil {
		visitor.Deleted = func(key indexer.Key, last any) {
			p.changes++
			c.swept(first, key, last)
		}
		visitor.Put = func(key indexer.Key, old, obj any, replaced bool) {
			p.changes++
			c.listed(p, first, initial, key, old, obj, replaced)
		}
	}
	if wentBack := p.fresh && version != ""; len(c.parts) > 1 && !wentBack {
		visitor.Outdated = c.outdatedIn(p)
	}
	defer c.settled(i, first) // also where an index function has ended the goroutine
	staging.Commit(c.version(), visitor)
}

// settled is called when a full state has been applied.
func (c *core) settled(i uint16, first bool) {
	p := &c.parts[i]
	if p.changes > 0 || first && c.writer.Indexer().Len() > 0 {
		c.status.changed(i)
	}
	p.aside, p.changes = nil, 0
	c.aside.trim(c.writer)
	c.noteRead(p)
	c.versions.wake()
}

// swept logs an object that a full state does not hold any more.
func (c *core) swept(first bool, key indexer.Key, last any) {
	uid := c.identity(key, last).uid
	delete(c.aside, key)
	if !first {
		c.logLost(key, last, uid)
	}
}

// listed logs an object that a full state has put.
func (c *core) listed(p *part, first, initial bool, key indexer.Key, old, obj any, replaced bool) {
	was := identity{}
	if replaced {
		was = c.identity(key, old)
	}
	id := c.identityIn(p, key, obj)
	if c.options.Transform != nil {
		c.aside.note(key, obj, id)
	}
	if !first {
		c.logPut(key, put{old: old, now: obj, replaced: replaced, was: was.uid, uid: id.uid, initial: initial})
	}
}

// shown publishes a full state, in the write section that shows it. What Status tells of
// it is counted before anybody is told.
func (c *core) shown(tx *indexer.Tx, p *part, first bool) {
	was := len(p.quarantine)
	c.releaseAll(p.quarantine)
	p.quarantine, p.sick = p.sick, nil
	c.recount(p, was)
	c.reached.show()
	c.processor.publish()
	if first {
		c.processor.begin(tx)
	}
	if c.complete() && !c.isSynced() {
		c.processor.synced()
		close(c.synced)
	}
}

// complete tells whether every part has committed a full state.
func (c *core) complete() bool { return c.committed == len(c.parts) }

func (c *core) isSynced() bool { return closed(c.synced) }
