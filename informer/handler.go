package informer

import (
	"time"

	"github.com/tidemark-k8s/tidemark/informer/internal/engine"
)

// Kind is the kind of a [Change].
type Kind uint8

// The kinds of changes.
const (
	// Added: the handler did not know New.
	Added Kind = iota + 1
	// Updated: New replaces Old. In a resync both are the same object.
	Updated
	// Deleted: Old no longer exists. The handler may not know Old: a delete from the watch is delivered even
	// if the object was not stored.
	Deleted
)

// String names the kind.
func (k Kind) String() string {
	switch k {
	case Added:
		return "added"
	case Updated:
		return "updated"
	case Deleted:
		return "deleted"
	}
	return "unknown"
}

// Change is one change of an object. A [Handler] must not change the objects, which belong to the store.
type Change[T any] struct {
	Kind Kind
	// Old is the version that the handler saw last; for Deleted it is the final state, and for Added the zero
	// value.
	Old T
	// New is the current version; the zero value for Deleted.
	New T
	// Initial marks an Added of the initial state: the object was there before the handler.
	Initial bool
	// Lost marks a Deleted whose final state is unknown, and Old is then the last known version. A list
	// lacked the object, another object has taken its name, or the final state could not be decoded or
	// transformed.
	Lost bool
}

// Handler receives the changes of an informer's objects on a goroutine of its own, one at a time, in the
// order in which the store made them. A slow handler delays no other; its pending changes are kept, see
// [Delivery]. If it panics, the panic is reported (utilruntime.HandleCrash), and the handler misses only that
// change.
type Handler[T any] interface {
	Handle(Change[T])
}

// Funcs is a [Handler] of up to three functions. Nil functions are skipped.
type Funcs[T any] struct {
	Added   func(obj T)
	Updated func(old, obj T)
	Deleted func(last T)
}

// Handle calls the function of the change's kind.
func (f Funcs[T]) Handle(c Change[T]) {
	switch {
	case c.Kind == Added && f.Added != nil:
		f.Added(c.New)
	case c.Kind == Updated && f.Updated != nil:
		f.Updated(c.Old, c.New)
	case c.Kind == Deleted && f.Deleted != nil:
		f.Deleted(c.Old)
	}
}

// HandlerFunc makes a function a [Handler].
type HandlerFunc[T any] func(Change[T])

// Handle calls f.
func (f HandlerFunc[T]) Handle(c Change[T]) { f(c) }

// Delivery selects how a handler's pending changes are kept.
type Delivery uint8

const (
	// Every delivers each change, however far the handler lags. Only memory limits the pending changes, see
	// [Registration.Backlog].
	Every Delivery = iota
	// Latest merges the pending changes of each object into one, from the version that the handler saw last
	// to the current one. So the number of objects limits the work of a lagging handler. An object that was
	// added and deleted in the meantime is left out, and an object that a program has removed by hand counts
	// as unseen. Use Latest for handlers that show or copy the state. For a controller with a work queue, use
	// Every: the queue merges keys itself, and the controller gets a key for each of its own writes.
	Latest
)

// HandlerOptions configure one handler. The zero value delivers every change, with the informer's resync
// period.
type HandlerOptions struct {
	// Name is the handler's name in messages. It defaults to the handler's type with its package or, for a
	// function, to its place in the source code.
	Name string
	// Delivery is [Every], which delivers each change, or [Latest], which merges pending changes per object.
	Delivery Delivery
	// Resync is the period after which all objects are delivered again, as Updated from an object to itself.
	// Zero means the informer's period, and a negative value never.
	Resync time.Duration
}

func (o HandlerOptions) validate() error {
	if o.Delivery > Latest {
		return engine.OutOfRange("Delivery", o.Delivery)
	}
	return nil
}

// Registration is a handler's place in an informer. While the informer runs, the registration's goroutine
// delivers the initial state and then each change. All methods are safe for concurrent use, also from within
// the handler.
type Registration interface {
	// Name returns the name under which the handler was registered.
	Name() string
	// Synced returns a channel that is closed once the handler has got the whole initial state (client-go's
	// ResourceEventHandlerRegistration.HasSynced). It stays open if the informer or the registration stops
	// first.
	Synced() <-chan struct{}
	// Backlog returns the number of undelivered events. With [Latest], the merged changes of an object count
	// as one. Events that the handler is working on count too, and go down a few at a time; the number is
	// exact while the handler is idle. A resync does not count.
	Backlog() int
	// Stop ends the registration and drops its pending events. One call of the handler may still be running
	// when Stop returns; see Done. A second Stop does nothing.
	Stop()
	// Done returns a channel that is closed once nothing more will be delivered: the registration or the
	// informer has stopped, and the handler's last call has returned.
	Done() <-chan struct{}
}
