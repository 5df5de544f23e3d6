package reflector

import (
	"context"

	"github.com/tidemark-k8s/tidemark/deltafifo"
)

// Sink is where a [Reflector] writes what it learns. One reflector writes to
// one sink, from one goroutine, in this order:
//
//	Begin, Write..., Commit    a full state: what was written is everything there is
//	Begin, Write..., Abort     a full state that broke off: as if it had never begun
//	Write...                   after a Commit: single changes and bookmarks, in order
//
// Between Begin and Commit the deltas are Added for the listed objects; a
// stream of the initial state may also bring Modified and Deleted. A sink that
// is full waits in Write until there is room or ctx ends. The batch belongs to
// the caller again when Write returns; the objects in it belong to the sink.
//
// A sink that is a [Recaller] too may be written objects of its own (see
// [Wire]).
//
// An error from any call but Abort ends the attempt: the reflector reports it,
// backs off and lists again. So does a call that ends its goroutine (runtime.Goexit),
// but for a Write of a [Resumer]; the next call is on another goroutine. Abort follows a Begin, Write or Commit of a full
// state that failed, too. It may be called when ctx has ended, and should not
// wait then.
type Sink interface {
	Begin(ctx context.Context, h History) error
	Write(ctx context.Context, batch []deltafifo.Delta) error
	Commit(ctx context.Context, version string) error
	Abort(ctx context.Context) error
}

// Resumer is implemented by a [Sink] that calls functions which may end its
// goroutine (runtime.Goexit). Where one has done so within Write, or within Resume,
// Resume is called on another goroutine: it goes on with the batch of that Write from
// where it was, and returns what Write would have returned. The batch is the sink's
// until then.
type Resumer interface {
	Resume(ctx context.Context) error
}

// History says how the versions of a full state relate to those reported
// before it.
type History uint8

const (
	// SameHistory is the normal case: an object whose UID and version are
	// those of the one reported before is the same object.
	SameHistory History = iota
	// NewHistory follows a server whose history went back, such as an etcd
	// that was restored from a snapshot, or comes with a list that has no
	// version, as those of fake clientsets: equal versions prove nothing.
	NewHistory
)
