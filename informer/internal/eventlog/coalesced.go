package eventlog

import (
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/verify"
)

// Coalesced merges the pending events of a lagging handler. For each object, it holds the difference from the
// version that the handler has seen. The objects are in the order of their first pending events. The zero
// value is empty. Only one goroutine at a time may use it.
//
// The result of an event depends on the pending state of its key. For an object that exists, it also depends
// on whether the object has the UID that the handler has seen:
//
//	pending    add, as seen  add, another  update      delete
//	nothing    added         added         updated     deleted
//	added      added         added         added       nothing
//	updated    updated       recreated     updated     deleted
//	recreated  updated       recreated     recreated   deleted
//	deleted    updated       recreated     as an add   deleted
//
// If an object is recreated before the handler has seen its add, the add remains a single add. If nothing is
// pending, the handler counts as having seen the deleted object.
//
// Invariant: byKey holds exactly the entries of order from head on that are not void.
type Coalesced struct {
	order []*pending
	head  int
	byKey map[indexer.Key]*pending
}

// pendingState is the kind of difference pending for an object.
type pendingState uint8

const (
	void      pendingState = iota // no difference: the object was added and deleted
	added                         // the handler has never seen the object
	updated                       // the handler has seen another version of it
	recreated                     // the handler has seen another object under the key
	deleted
)

// pending is the difference pending for one object.
type pending struct {
	state   pendingState
	flags   Flags // of an add: Initial; of a delete: those in deletion
	key     indexer.Key
	seen    any    // the object that the handler has seen; unset in added
	seenUID string // its UID
	now     any    // the current object, or the last state of a deleted one
	first   uint64 // position of the first event
}

// deletion has the flags that a delete is delivered with.
const deletion = Lost | LastStored

// Has reports whether a difference is pending for an object.
func (c *Coalesced) Has(key indexer.Key) bool { return c.byKey[key] != nil }

// Len returns the number of objects with a pending difference.
func (c *Coalesced) Len() int { return len(c.byKey) }

// Add merges the event at a position of the log.
func (c *Coalesced) Add(e Event, id object.Identity, position uint64) {
	if p := c.byKey[id.Key]; p != nil {
		p.merge(e, id.UID)
		if p.state == void {
			delete(c.byKey, id.Key)
			*p = pending{}
		}
		return
	}
	p := &pending{key: id.Key, first: position}
	p.begin(e, id.UID)
	c.insert(p)
}

func (c *Coalesced) insert(p *pending) {
	if c.byKey == nil {
		c.byKey = make(map[indexer.Key]*pending)
	}
	c.byKey[p.key] = p
	if len(c.order) > 2*len(c.byKey)+firstSegment {
		c.compact()
	}
	c.order = append(c.order, p)
}

// begin handles the first event of an object. The event's old object is the one that the handler has seen.
func (p *pending) begin(e Event, uid string) {
	switch e.Kind {
	case Added:
		p.state, p.now, p.flags = added, e.New, e.Flags&Initial
	case Updated:
		p.state, p.seen, p.seenUID, p.now = updated, e.Old, uid, e.New
	case Deleted:
		p.state, p.seen, p.seenUID, p.now, p.flags = deleted, e.Stored(), uid, e.Final(), e.Flags&deletion
	}
}

// merge handles another event.
func (p *pending) merge(e Event, uid string) {
	switch {
	case e.Kind == Deleted:
		p.delete(e)
	case p.state == added:
		p.now = e.New
	default:
		p.now, p.flags = e.New, 0
		if p.state != recreated || e.Kind == Added { // an update of the recreated object leaves it recreated
			p.state = p.compare(uid)
		}
	}
}

func (p *pending) delete(e Event) {
	switch {
	case p.state == added && e.Is(Recreated): // the add of the same event follows, and replaces this one
	case p.state == added:
		p.state = void
	case p.state == recreated: // the handler has not seen the recreated object
		p.state, p.now, p.flags = deleted, p.seen, Lost
	case p.state == updated:
		p.state, p.now, p.flags = deleted, e.Final(), e.Flags&deletion
	}
}

// compare returns updated or recreated, from the UIDs of the current object and the one that the handler has
// seen. An unknown UID counts as equal.
func (p *pending) compare(uid string) pendingState {
	if uid == p.seenUID || uid == "" || p.seenUID == "" {
		return updated
	}
	return recreated
}

// deliver adds the events for the handler to a batch.
func (p *pending) deliver(b *Batch) {
	switch p.state {
	case added:
		b.Add(Event{Pair{New: p.now}, Header{Added, p.flags}})
	case updated:
		b.Add(Event{Pair{p.seen, p.now}, Header{Kind: Updated}})
	case recreated:
		b.Add(Event{Deletion(p.seen, p.seen), Header{Deleted, Lost | Recreated}})
		b.Add(Event{Pair{p.seen, p.now}, Header{Added, Recreated}})
	case deleted:
		h := Header{Deleted, p.flags}
		if h.needsKey() {
			b.keys = append(b.keys, p.key)
		}
		b.Add(Event{Deletion(p.now, p.seen), h})
	}
}

// Pop removes the first pending object, and adds its events to a batch, which must not be full. It returns
// the position of the object's first event, or false if nothing is pending.
func (c *Coalesced) Pop(b *Batch) (first uint64, ok bool) {
	for c.head < len(c.order) {
		p := c.order[c.head]
		c.order[c.head] = nil
		c.head++
		if p.state != void {
			delete(c.byKey, p.key)
			p.deliver(b)
			return p.first, true
		}
	}
	c.order, c.head = nil, 0
	return 0, false
}

// Oldest returns the position of the first pending event.
func (c *Coalesced) Oldest() (position uint64, ok bool) {
	for _, p := range c.order[c.head:] {
		if p.state != void {
			return p.first, true
		}
	}
	return 0, false
}

// compact drops popped and void entries, so that short-lived objects leave nothing behind.
func (c *Coalesced) compact() {
	kept := c.order[:0]
	for _, p := range c.order[c.head:] {
		if p.state != void {
			kept = append(kept, p)
		}
	}
	clear(c.order[len(kept):])
	c.order, c.head = kept, 0
}

// Check panics if the invariant is broken. It runs only under TIDEMARK_VERIFY.
func (c *Coalesced) Check() {
	if !verify.On {
		return
	}
	pending := 0
	for _, p := range c.order[c.head:] {
		if p.state != void {
			pending++
			verify.That(c.byKey[p.key] == p, "%q is pending twice", p.key)
		}
	}
	verify.That(pending == len(c.byKey), "%d objects pending in order, %d by key", pending, len(c.byKey))
}
