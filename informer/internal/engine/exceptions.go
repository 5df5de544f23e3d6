package engine

import (
	"sync"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// exceptions hold what the store does not show about the objects of one source: the server's identities
// of those whose UID or version the transform has changed, and the keys of those that could not be
// prepared. An object may have both: the store has an earlier version of it.
//
// Only the processLoop changes them. Any goroutine may call identity.
type exceptions struct {
	failed map[indexer.Key]struct{} // each is counted in the informer's quarantine

	mu         sync.Mutex
	identities map[indexer.Key]hidden
}

// hidden is the identity of a stored object that shows another one. It is valid only for that object: a
// user may have put another one under the key by hand.
type hidden struct {
	object.Identity
	stored any
}

// identity returns the server's identity of a stored object. It returns false if the object shows it.
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

// keep copies the hidden identity of a key from the record of the state before, because a full state keeps the
// stored object of the key.
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

// forget forgets the identity of the object of a key.
func (e *exceptions) forget(key indexer.Key) {
	e.mu.Lock()
	defer e.mu.Unlock()

	delete(e.identities, key)
}

// replace takes over what a full state says, which is empty afterwards.
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
