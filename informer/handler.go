package informer

import (
	"time"

	"github.com/tidemark-k8s/tidemark/informer/internal/engine"
)

// Kind is the kind of a [Change].
type Kind uint8

// The kinds of changes.
const (
	// Added: New is an object unknown to the handler.
	Added Kind = iota + 1
	// Updated: New replaces Old. In a resync both are the same object.
	Updated
	// Deleted: Old no longer exists. The handler may not know it: what the watch deletes is delivered
	// whether it was stored or not.
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

// Change is one change of an object, as told to a [Handler]. The store owns the objects: they must
// never be changed.
type Change[T any] struct {
	Kind Kind
	// Old is the version that the handler saw last, and for Deleted the final state. It is the zero value
	// for Added.
	Old T
	// New is the present version; the zero value for Deleted.
	New T
	// Initial marks an Added of the initial state: the object existed before the handler.
	Initial bool
	// Lost marks a Deleted whose final state is unknown: a list lacked the object, another object
	// was found under its name, or the final state could not be decoded or transformed. Old is the
	// last known version.
	Lost bool
}

// Handler receives the changes of an informer's objects, one at a time, on a goroutine of its own,
// in the order in which the store made them. A slow handler holds up nobody; its pending changes
// are kept (see [Delivery]). A panic is reported as in any controller (utilruntime.HandleCrash) and
// costs that one change.
type Handler[T any] interface {
	Handle(Change[T])
}

// Funcs is a [Handler] of up to three functions; nil ones are skipped.
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

// HandlerFunc is a function as a [Handler].
type HandlerFunc[T any] func(Change[T])

// Handle calls f.
func (f HandlerFunc[T]) Handle(c Change[T]) { f(c) }

// Delivery says how pending changes of a handler are kept.
type Delivery uint8

const (
	// Every keeps and delivers each change, however far the handler lags. Only memory bounds the
	// pending changes. See [Registration.Backlog].
	Every Delivery = iota
	// Latest merges the pending changes of each object into one, from the version the handler saw
	// last to the present one. The work of a lagging handler is bounded by the number of objects.
	// An object that came and went meanwhile is not mentioned. So Latest is for handlers that show
	// or copy the state. A controller, which waits for the outcome of its own writes, takes Every
	// and a work queue; the work queue merges as well.
	Latest
)

// HandlerOptions configure one handler. The zero value delivers every change, with the informer's
// resync period.
type HandlerOptions struct {
	// Name stands in messages. It defaults to the handler's type with its package or, for a
	// function, to its place in the source.
	Name string
	// Delivery is [Every] or [Latest].
	Delivery Delivery
	// Resync is the period in which all objects are delivered again, as Updated from an object to
	// itself; zero for the informer's own period, negative for never.
	Resync time.Duration
}

func (o HandlerOptions) validate() error {
	if o.Delivery > Latest {
		return engine.OutOfRange("Delivery", o.Delivery)
	}
	return nil
}

// Registration is one handler's place in an informer. While the informer runs, a goroutine of its
// own delivers the initial state and then each change. Its methods may be called from anywhere,
// from within the handler too.
type Registration interface {
	// Name returns the name under which the handler was registered.
	Name() string
	// Synced returns a channel that is closed once the handler has been told
	// the whole initial state (client-go's
	// ResourceEventHandlerRegistration.HasSynced). It stays open if the informer
	// or the registration stops before.
	Synced() <-chan struct{}
	// Backlog returns the number of undelivered events. With [Latest] it counts one for each object
	// with merged changes, and each event not merged yet. Events in the handler's hands count, and
	// go down in steps of some events; the number is exact when the handler has none in hand. A
	// resync does not count.
	Backlog() int
	// Stop ends the registration, and drops its pending events. One call of the handler may still
	// be running when Stop returns; see Done. A second call does nothing.
	Stop()
	// Done returns a channel that is closed once nothing more will be delivered: the registration
	// or the informer was stopped, and the last call of the handler has returned.
	Done() <-chan struct{}
}
