package records

import (
	"sync"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// Exceptions holds what the store does not show about the objects of one source: the server's identities
// of those whose UID or version the transform has changed, and the keys of those that could not be
// prepared. An object may have both: the store has an earlier version of it.
//
// Only the processLoop changes it. Any goroutine may call Identity.
type Exceptions struct {
	failed map[indexer.Key]struct{}

	mu         sync.Mutex
	identities map[indexer.Key]hidden
}

// hidden is the identity of a stored object that shows another one. It is valid only for that object: a
// user may have put another one under the key by hand.
type hidden struct {
	Identity
	stored any
}

// Identity returns the server's identity of a stored object. It returns false if the object shows it.
func (e *Exceptions) Identity(key indexer.Key, stored any) (Identity, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()

	h, ok := e.identities[key]
	if !ok || !object.Same(h.stored, stored) {
		return Identity{}, false
	}
	return h.Identity, true
}

// Put records the identity of an object that is put under a key.
func (e *Exceptions) Put(key indexer.Key, stored any, id Identity) {
	shown := IdentityOf(stored) == id
	e.mu.Lock()
	defer e.mu.Unlock()

	e.set(key, hidden{id, stored}, !shown)
}

// Keep records that a full state keeps the stored object of a key, of which from says what it does not show.
func (e *Exceptions) Keep(key indexer.Key, from *Exceptions) {
	h, known := from.identities[key]
	e.mu.Lock()
	defer e.mu.Unlock()

	e.set(key, h, known)
}

// set sets the identity of a key, or removes it. The caller holds mu.
func (e *Exceptions) set(key indexer.Key, h hidden, known bool) {
	if !known {
		delete(e.identities, key)
		return
	}
	if e.identities == nil {
		e.identities = make(map[indexer.Key]hidden)
	}
	e.identities[key] = h
}

// Forget forgets the identity of the object of a key.
func (e *Exceptions) Forget(key indexer.Key) {
	e.mu.Lock()
	defer e.mu.Unlock()

	delete(e.identities, key)
}

// Replace takes over what a full state says, which is empty afterwards.
func (e *Exceptions) Replace(next *Exceptions) {
	e.mu.Lock()
	defer e.mu.Unlock()

	e.failed, e.identities = next.failed, next.identities
	next.failed, next.identities = nil, nil
}

// Failed reports whether the last version of an object could not be prepared.
func (e *Exceptions) Failed(key indexer.Key) bool {
	_, failed := e.failed[key]
	return failed
}

// Failures returns the number of objects that could not be prepared.
func (e *Exceptions) Failures() int { return len(e.failed) }

// Identities returns the number of objects that do not show their identity.
func (e *Exceptions) Identities() int { return len(e.identities) }
