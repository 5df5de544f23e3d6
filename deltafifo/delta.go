package deltafifo

import "github.com/tidemark-k8s/tidemark/indexer"

// Op tells what a [Delta] reports.
type Op uint8

// The operations. Added, Modified and Deleted carry an object, Bookmark only
// a version. Begin, Commit and Abort frame a full state: what stands between
// Begin and Commit is, taken together, everything that the source holds.
const (
	// Added reports an object that the source did not hold before.
	Added Op = iota + 1
	// Modified reports a new version of an object.
	Modified
	// Deleted reports the last state of an object that is gone.
	Deleted
	// Bookmark reports progress: everything up to Version has been reported. One without a
	// version follows what a source had to report of the time before it was asked.
	Bookmark
	// Poisoned stands for a delta whose object could not be prepared: the
	// change is known to have happened, the object is not to be had. It carries
	// an error instead.
	Poisoned
	// Begin opens a full state.
	Begin
	// Commit ends a full state; Version is the one it holds at.
	Commit
	// Abort drops the full state that was begun.
	Abort
)

// String names the operation, for messages and transcripts.
func (o Op) String() string {
	names := [...]string{"none", "added", "modified", "deleted", "bookmark", "poisoned", "begin", "commit", "abort"}
	if int(o) < len(names) {
		return names[o]
	}
	return "unknown"
}

// Delta is one reported change of one object, or one mark in the flow of
// changes. Key, UID and Version are read from the object once, by whoever
// creates the delta, and travel along.
type Delta struct {
	Op Op
	// Fresh, on Begin, says that the source's history is another one than
	// before: equal versions no longer mean equal objects.
	Fresh bool
	// Anew, on Begin, says that nothing of what the consumer holds of the source is to be
	// trusted: what comes takes its place, whatever its version.
	Anew bool
	// Lost, on Deleted, says that the final state of the object was missed:
	// Object is the last one known, or the zero value.
	Lost bool
	// Recalled, on Added in a full state, says that the object was not sent:
	// Object is what the consumer itself holds of this key, UID and version.
	Recalled bool
	// Part is the number of the source that reported the change, where
	// several feed one store.
	Part uint16
	Key  indexer.Key
	// UID and Version are metadata.uid and metadata.resourceVersion as the
	// server sent them, whatever a transform makes of the object. Version is
	// opaque; a Bookmark and a Commit carry one too.
	UID, Version string
	// Stamp is for the consumer's own use, such as a hash of the UID.
	Stamp uint64
	// Object is the object, as Op says; of Poisoned, the error that says why there is none.
	Object any
}
