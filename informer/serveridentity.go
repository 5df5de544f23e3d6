package informer

import (
	"maps"
	"reflect"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// asides are the identities of objects in whose metadata the transform has changed
// them. An identity belongs to one object, as it is stored, and not to its key: a user
// may have put another object under that key by hand.
type serverIdentities map[indexer.Key]serverIdentity

type serverIdentity struct {
	identity
	stored any
}

// of returns the identity of an object, false where its metadata tells it.
func (a serverIdentities) of(key indexer.Key, stored any) (identity, bool) {
	known, ok := a[key]
	if !ok || !sameValue(known.stored, stored) {
		return identity{}, false
	}
	return known.identity, true
}

// note notes the identity of the object that is stored under a key from now on.
func (a *serverIdentities) note(key indexer.Key, stored any, id identity) {
	if identityOf(stored) == id {
		delete(*a, key)
		return
	}
	if *a == nil {
		*a = make(serverIdentities)
	}
	(*a)[key] = serverIdentity{id, stored}
}

// trim forgets what is not stored any more, once that is the most: a user may have
// deleted it by hand.
func (a serverIdentities) trim(w *indexer.Writer) {
	if len(a) <= w.Indexer().Len() {
		return
	}
	maps.DeleteFunc(a, func(key indexer.Key, _ serverIdentity) bool {
		_, stored := w.Stored(key)
		return !stored
	})
}

// same tells whether two objects are one. Of those that cannot be compared, which are
// no pointers, it is never known.
func sameValue(a, b any) bool {
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}
