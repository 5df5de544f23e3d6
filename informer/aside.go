package informer

import (
	"maps"
	"reflect"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// serverIdentities holds the server's identities of objects whose metadata the transform has
// changed. An identity belongs to one stored object, not to its key: a user may have put another
// object under the key by hand.
type serverIdentities map[indexer.Key]serverIdentity

type serverIdentity struct {
	identity
	stored any
}

// of returns the recorded identity of an object, false if its metadata show it.
func (a serverIdentities) of(key indexer.Key, stored any) (identity, bool) {
	known, ok := a[key]
	if !ok || !same(known.stored, stored) {
		return identity{}, false
	}
	return known.identity, true
}

// note records the identity of the object now stored under a key.
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

// trim drops the identities of objects no longer stored, when they are the majority: a user may
// have deleted the objects by hand.
func (a serverIdentities) trim(w *indexer.Writer) {
	if len(a) <= w.Indexer().Len() {
		return
	}
	maps.DeleteFunc(a, func(key indexer.Key, _ serverIdentity) bool {
		_, stored := w.Stored(key)
		return !stored
	})
}

// same reports whether two objects are one. It returns false for objects that do not compare, which
// are no pointers.
func same(a, b any) bool {
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}
