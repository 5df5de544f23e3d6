package fences

import (
	"strings"
	"time"

	"github.com/tidemark-k8s/tidemark/internal/object"
)

// Cell is what the store holds of one source under a key. It has no object if the store holds none, or
// another source's. An object put by hand has no identity.
type Cell struct {
	Identity object.Identity // as the server sent it
	Object   any             // in its stored form
	Stamp    uint64
	// Finalizers says that the object certainly has finalizers. Only the answer of kind Emptied asks.
	Finalizers bool
}

// is reports whether the cell holds this version of this object.
func (c Cell) is(id object.Identity) bool { return c.Object != nil && c.Identity == id }

// kind is what a fence says of its object. Each kind says what the store holds meanwhile.
type kind uint8

const (
	ahead  kind = iota // the object, at the version of an answer
	absent             // nothing: at the version of an answer the object was deleted, or left the selector
	dead               // nothing: the object was deleted after its version, at an unknown version
)

// fence marks a key whose stored state comes from an answer, and not from the watch.
type fence struct {
	kind      kind
	object    object.Identity // of a dead fence: with the newest version that is known
	answered  time.Time
	confirmed Cell // what the watch alone would show
}

// endsAt reports whether the fence ends when the source has reached a version. No version ends a dead one.
func (f *fence) endsAt(version string) bool {
	return f.kind != dead && !object.Older(version, f.object.Version)
}

// holds reports whether the store still holds what the fence has put there. It may hold nothing of an
// object that is ahead: another source has the key meanwhile, or a user has deleted it by hand.
func (f *fence) holds(shown Cell) bool {
	return shown.Object == nil || f.kind == ahead && shown.Identity == f.object
}

// keepsBack reports whether what the watch or an answer says of an object is older than what the store
// shows.
func (f *fence) keepsBack(id object.Identity) bool {
	return f.kind == dead && f.object.SameObject(id) || object.Older(id.Version, f.object.Version)
}

// order compares two versions, which are known to be numbers without leading zeros.
func order(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// reaches reports whether a version is known to be at or after another one.
func reaches(version, at string) bool {
	if len(version) == len(at) && version < at {
		return false // it is below, or does not compare
	}
	return version == at || object.Older(at, version)
}
