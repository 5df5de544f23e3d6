package ownwrites

import (
	"sync/atomic"

	"github.com/tidemark-k8s/tidemark/indexer"
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
}

// Sink is a reflector's sink that shows what the program writes.
type Sink interface {
	// Linked is called when the first request of the source passes through an OwnWrites, before its answer
	// is read. selects says that the request has a label or a field selector, or may have another one: a
	// DELETED event says only that the source does not read the object any more.
	Linked(selects bool)
	// Unlinked is called if a request of the source goes to another server, or as another user, than those before. The
	// run gets no answers any more.
	Unlinked()
	// Begins is called when the request of a write begins, before it is sent. It waits for nothing.
	Begins(key indexer.Key) Before
	// Answered is called with the answer to a write. It returns when the store shows the answer, or when it is
	// clear that the store will not. It may be called by many goroutines at once, also after the end of the run.
	Answered(a Answer)
	// Missed counts an answer that is not shown, or not before the caller of the write has gone on. It waits for
	// nothing.
	Missed(a Answer)
	// Late counts the answers that the informer has not shown when the callers have gone on. The sinks of one
	// informer have the same counter.
	Late() *atomic.Int32
}
