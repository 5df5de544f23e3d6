package ownwrites

import (
	"sync/atomic"

	"github.com/tidemark-k8s/tidemark/internal/object"
)

// Before is what a sink knows when the request of a write begins.
type Before struct {
	// History is the number of the server's history. The answer to a request begun in an earlier one is
	// ignored.
	History uint64
	// Identity is that of the object that the store holds under the write's key, empty if it holds none.
	object.Identity
}

// Kind is what the answer to a write says has happened to the object.
type Kind uint8

// The kinds of answers.
const (
	// Doubt says that nobody can tell what the write has done.
	Doubt Kind = iota
	// Object says that the object is at Version now, the answer's own or another writer's.
	Object
	// Emptied says that an update was answered by an object with a deletionTimestamp, and with neither
	// finalizers nor time left in its metadata. Either the update has deleted the object, and Version is the one
	// before it; or other finalizers keep the object, as a Namespace's spec does.
	Emptied
	// Deleted says that the object was deleted at Version, with Object as its final state.
	Deleted
	// Undated says that the object with UID was deleted, at an unknown version.
	Undated
)

// Scope says whether a source reads an object.
type Scope uint8

// The scopes of an object.
const (
	Unknown Scope = iota // cannot be told from the request and the answer
	Inside
	Outside
)

// Answer is what one source learns from the answer to one write of this program.
type Answer struct {
	Kind  Kind
	Scope Scope // of Object, Emptied and Deleted
	object.Identity
	// Object is the object, decoded as the source's reflector decodes its own. It is nil if the answer
	// has none that the source's sink may store, such as a Scale, or metadata for a source of full
	// objects.
	Object any
	Before Before
	// Counted is set once the answer is counted. A late one is counted before the sink has taken it.
	Counted *atomic.Bool
}
