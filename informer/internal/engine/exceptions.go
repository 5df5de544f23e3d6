package engine

import (
	"sync"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// exceptions hold what the store does not show about the objects of one source: the server's identities of
// objects whose UID or version the transform has changed, or whose version belongs to an earlier history, and
// the keys of objects that could not be prepared. A key may have both, if the store has an earlier version of a
// failed object.
//
// Only the processLoop changes them. Any goroutine may call identity.
type exceptions struct {
	failed map[indexer.Key]struct{} // each is counted in the informer's quarantine

	mu         sync.Mutex
	identities map[indexer.Key]hidden
}

// hidden is the server's identity of a stored object that shows another identity. It is valid only for that
// object, because a program may have put another one under the key by hand.
type hidden struct {
	object.Identity
	stored any
}

// hide reports whether an object may show another identity than the server's. Only the processLoop may call it.
func (e *exceptions) hide() bool { return len(e.identities) > 0 }

// identity returns the server's identity of a stored object, and false if the object shows that identity
// itself.
func (e *exceptions) identity(key indexer.Key, stored any) (object.Identity, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()

	h, ok := e.identities[key]
	if !ok || !object.Same(h.stored, stored) {
		return object.Identity{}, false
	}
	return h.Identity, true
}

// put records the identity of an object that is put under its key.
func (e *exceptions) put(stored any, id object.Identity) {
	shown := id.ShownBy(stored)
	e.mu.Lock()
	defer e.mu.Unlock()

	e.set(id.Key, hidden{id, stored}, !shown)
}

// keep copies the hidden identity of a key from the earlier record, because a full state keeps the stored
// object of the key.
func (e *exceptions) keep(key indexer.Key, from *exceptions) {
	h, known := from.identities[key]
	e.mu.Lock()
	defer e.mu.Unlock()

	e.set(key, h, known)
}

// set sets the identity of a key, or removes it. The caller holds mu.
func (e *exceptions) set(key indexer.Key, h hidden, known bool) {
	if !known {
		delete(e.identities, key)
		return
	}
	if e.identities == nil {
		e.identities = make(map[indexer.Key]hidden)
	}
	e.identities[key] = h
}

// forget removes the identity of the object of a key.
func (e *exceptions) forget(key indexer.Key) {
	if !e.hide() { // the usual case
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()

	delete(e.identities, key)
}

// replace takes over the record of a full state, and empties that.
func (e *exceptions) replace(next *exceptions) {
	e.mu.Lock()
	defer e.mu.Unlock()

	e.failed, e.identities = next.failed, next.identities
	next.failed, next.identities = nil, nil
}

// hasFailed reports whether the last version of an object could not be prepared.
func (e *exceptions) hasFailed(key indexer.Key) bool {
	_, failed := e.failed[key]
	return failed
}
