package deltafifo

import "github.com/tidemark-k8s/tidemark/indexer"

// Op is the operation that a [Delta] reports.
type Op uint8

// The operations. Added, Modified and Deleted have an object, Bookmark and Progress only a version.
// Begin, Commit and Abort frame a full state: the deltas between Begin and Commit together describe
// all objects of the source.
const (
	// Added reports an object new to the source.
	Added Op = iota + 1
	// Modified reports a new version of an object.
	Modified
	// Deleted reports an object that is gone, with its last state.
	Deleted
	// Bookmark reports progress: every change up to Version has been reported.
	Bookmark
	// Poisoned reports a change whose object could not be decoded or transformed. It has the error
	// instead of the object.
	Poisoned
	// Progress reports that the source has reached Version by changes of objects outside the
	// consumer's share. Unlike a Bookmark, it proves nothing else.
	Progress
	// Begin opens a full state.
	Begin
	// Commit ends a full state; Version is the version of that state.
	Commit
	// Abort drops the full state that began last.
	Abort
	// Answered is the answer to a write of the program. Only an informer's own sink queues it. It
	// has no Version and is independent of what the source has reported.
	Answered
)

// String returns the operation's name, for messages and transcripts.
func (o Op) String() string {
	names := [...]string{"none", "added", "modified", "deleted", "bookmark", "poisoned", "progress", "begin", "commit", "abort", "answered"}
	if int(o) < len(names) {
		return names[o]
	}
	return "unknown"
}

// Delta is a reported change of an object, or a mark in the sequence of changes. The creator of a
// delta reads Key, UID and Version from the object once, for all later readers.
type Delta struct {
	Op Op
	// NewHistory, on Begin, says that the source has a new history. Equal versions no longer mean
	// equal objects, and each object of the full state replaces the stored object.
	NewHistory bool
	// Lost, on Deleted, says that the object's final state was missed. Object is the last known
	// state, or the zero value.
	Lost bool
	// Recalled, on Added in a full state, says that the object was not decoded again. Object is the
	// consumer's own object with the same key, UID and version.
	Recalled bool
	// Unordered, on a change, says that its Version is no progress of the source: a watch without a
	// version begins with its objects, in any order.
	Unordered bool
	// Source is the number of the change's source, if several sources feed one store.
	Source uint16
	Key    indexer.Key
	// UID and Version are metadata.uid and metadata.resourceVersion as the server sent them, even
	// if a transform changes them in the object. Version is opaque. Bookmark, Progress and Commit
	// also have a Version.
	UID, Version string
	// Stamp is for the consumer's own use, such as a hash of the UID.
	Stamp uint64
	// Object is the object, or the error of a Poisoned.
	Object any
}
