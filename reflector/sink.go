package reflector

import (
	"context"

	"github.com/tidemark-k8s/tidemark/deltafifo"
)

// Sink receives the objects and changes from a [Reflector]. Informers have their own; implement
// Sink only for your own store. One reflector calls the sink, on one goroutine, in this order:
//
//	Begin, Write..., Commit    a full state: the written objects are all there are
//	Begin, Write..., Abort     an incomplete full state, to be forgotten
//	Write...                   after a Commit: single changes and bookmarks, in order; with a share, Progress too
//
// Between Begin and Commit the deltas are Added for the listed objects. A stream of the initial
// state may also have Modified and Deleted. A full sink waits in Write until it has room or ctx
// ends. After Write, the batch belongs to the caller again, and its objects belong to the sink.
//
// An error from any call except Abort ends the attempt: the reflector reports it, backs off and
// lists again. Abort also follows a Begin, Write or Commit that failed during a full state. The
// reflector may call Abort after the end of ctx: Abort should not wait then. A call of
// runtime.Goexit ends Run, and no other call follows.
type Sink interface {
	Begin(ctx context.Context, h History) error
	Write(ctx context.Context, batch []deltafifo.Delta) error
	Commit(ctx context.Context, version string) error
	Abort(ctx context.Context) error
}

// History says how the versions of a full state relate to earlier versions.
type History uint8

const (
	// SameHistory is the normal case: objects of equal UID and version are equal.
	SameHistory History = iota
	// NewHistory follows a server whose history went back, for instance because its etcd was
	// restored from a snapshot. It also follows a list without a version, as from fake clientsets.
	// Equal versions do not mean equal objects.
	NewHistory
)
