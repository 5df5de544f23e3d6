package informer

import (
	"maps"
	"reflect"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// serverIdentities holds the server's identities of objects whose metadata the transform has
// changed. An entry is valid only for the stored object it was recorded for, not for its key: a
// user may have put another object under the key by hand.
type serverIdentities map[indexer.Key]serverIdentity

type serverIdentity struct {
	identity
	stored any
}

// of returns the server's identity of a stored object. It returns false if there is no entry: then
// the object's own metadata has the identity.
func (s serverIdentities) of(key indexer.Key, stored any) (identity, bool) {
	known, ok := s[key]
	if !ok || !sameValue(known.stored, stored) {
		return identity{}, false
	}
	return known.identity, true
}

// record sets the server's identity of the new stored object of a key. If the object's own
// metadata has the same identity, it removes the entry.
func (s *serverIdentities) record(key indexer.Key, stored any, id identity) {
	if identityOf(stored) == id {
		delete(*s, key)
		return
	}
	if *s == nil {
		*s = make(serverIdentities)
	}
	(*s)[key] = serverIdentity{id, stored}
}

// trim removes the entries of keys that are not stored any more, once there are more entries than
// stored objects: a user may have deleted objects by hand.
func (s serverIdentities) trim(w *indexer.Writer) {
	if len(s) <= w.Indexer().Len() {
		return
	}
	maps.DeleteFunc(s, func(key indexer.Key, _ serverIdentity) bool {
		_, stored := w.Stored(key)
		return !stored
	})
}

// sameValue reports whether two objects are the same one. It returns false for objects of types
// that cannot be compared, which are no pointers.
func sameValue(a, b any) bool {
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}
