package informer

import (
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/verify"
)

// latest is what a handler with [Latest] delivery still has to be told: one
// merged event for each object, in the order of their first pending events.
//
// Invariant: byKey holds exactly the entries of order from head on that are
// not void.
type latest struct {
	order []*pending
	head  int
	byKey map[indexer.Key]*pending
}

// pending is the merged event of one object.
type pending struct {
	event event
	note
	seen      any    // what the handler was told last, if it knows the object
	knows     bool   // it does
	recreated bool   // what it knows is another object than the one of now
	first     uint64 // position of the first event in it
	void      bool   // the object came and went: nothing is left to tell
}

// fold merges one event into the table.
func (l *latest) fold(e event, n note, position uint64) {
	if e.is(flagUnknown) {
		return
	}
	if p := l.byKey[n.key]; p != nil {
		l.merge(p, e, n)
		return
	}
	if l.byKey == nil {
		l.byKey = make(map[indexer.Key]*pending)
	}
	p := &pending{event: e, note: n, first: position, recreated: e.is(flagRecreated)}
	switch e.kind {
	case Updated:
		p.seen, p.knows = e.old, true
	case Deleted:
		p.seen, p.knows = e.new, true
	}
	l.byKey[n.key] = p
	if len(l.order) > 2*len(l.byKey)+firstSegment {
		l.compact()
	}
	l.order = append(l.order, p)
}

// follow folds in what is pending in another table, which came after.
func (l *latest) follow(later *latest) {
	for p := later.pop(); p != nil; p = later.pop() {
		l.fold(p.event, p.note, p.first)
	}
}

// merge makes one event of what is pending for an object and what follows.
func (l *latest) merge(p *pending, e event, n note) {
	if e.kind == Added && !(identity{uid: p.uid}).sameObject(identity{uid: n.uid}) || e.is(flagRecreated) {
		p.recreated = true
	}
	p.note = n
	switch {
	case e.kind == Deleted && !p.knows:
		*p = pending{void: true}
		delete(l.byKey, n.key)
	case e.kind == Deleted && p.recreated: // of what the handler never heard of
		p.event = event{pair{p.seen, p.seen}, header{Deleted, flagLost}}
	case e.kind == Deleted:
		p.event = e
	case !p.knows: // an add, whatever happened to it since
		p.event.new = e.new
	default:
		p.event = event{pair{p.seen, e.new}, header{kind: Updated}}
		if p.recreated {
			p.event.flags = flagRecreated
		}
	}
}

// compact drops what was popped and what is void, so that objects that come
// and go leave nothing behind.
func (l *latest) compact() {
	kept := l.order[:0]
	for _, p := range l.order[l.head:] {
		if !p.void {
			kept = append(kept, p)
		}
	}
	clear(l.order[len(kept):])
	l.order, l.head = kept, 0
}

// pop takes the first pending event out; nil if there is none.
func (l *latest) pop() *pending {
	for l.head < len(l.order) {
		p := l.order[l.head]
		l.order[l.head] = nil
		l.head++
		if !p.void {
			delete(l.byKey, p.key)
			return p
		}
	}
	l.order, l.head = nil, 0
	return nil
}

// oldest returns the position of the first event that is still pending.
func (l *latest) oldest() (position uint64, ok bool) {
	for _, p := range l.order[l.head:] {
		if !p.void {
			return p.first, true
		}
	}
	return 0, false
}

// check panics if the invariant is broken.
func (l *latest) check() {
	live := 0
	for _, p := range l.order[l.head:] {
		if !p.void {
			live++
			verify.That(l.byKey[p.key] == p, "%q is pending twice", p.key)
		}
	}
	verify.That(live == len(l.byKey), "%d objects pending in order, %d by key", live, len(l.byKey))
}
