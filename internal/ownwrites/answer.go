package ownwrites

import (
	"sync/atomic"

	"github.com/tidemark-k8s/tidemark/internal/object"
)

// Before is the state of a sink when the request of a write begins.
type Before struct {
	// History is the number of the server's history. The sink ignores answers to requests that began in
	// an earlier history.
	History uint64
	// Identity identifies the object that the store holds under the write's key. It is empty if there is
	// none.
	object.Identity
}

// Kind says what has happened to the object according to the answer to a write.
type Kind uint8

// The kinds of answers.
const (
	// Doubt means that the effect of the write is unknown.
	Doubt Kind = iota
	// Object means that the object is now at Version, whether this write or another writer made the
	// version.
	Object
	// Emptied means that the answer to an update has a deletionTimestamp, but neither finalizers nor
	// remaining grace period in its metadata. Either the update has deleted the object, and Version
	// precedes the deletion, or other finalizers keep the object, such as those in the spec of a
	// Namespace.
	Emptied
	// Deleted means that the object was deleted at Version. Object is its final state.
	Deleted
	// Undated means that the object with this UID was deleted at an unknown version.
	Undated
)

// Scope says whether a source includes an object.
type Scope uint8

// The scopes of an object.
const (
	Unknown Scope = iota // the request and the answer do not show it
	Inside
	Outside
)

// Answer is what a source learns from the answer to a write of this program.
type Answer struct {
	Kind  Kind
	Scope Scope // for Object, Emptied and Deleted
	object.Identity
	// Object is the object, decoded like the objects of the source's reflector. It is nil if the answer
	// has no object that the sink can store, but for instance a Scale, or only metadata for a source of
	// full objects.
	Object any
	Before Before
	// Counted is set when the answer has been counted. A late answer is counted before the sink has
	// processed it.
	Counted *atomic.Bool
}
