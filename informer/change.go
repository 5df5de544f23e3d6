package informer

import "time"

// Kind tells what a [Change] reports.
type Kind uint8

// The kinds of changes.
const (
	// Added: New is there, which the handler did not know.
	Added Kind = iota + 1
	// Updated: New replaces Old. In a resync the two are the same.
	Updated
	// Deleted: Old is gone.
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

// Change is what a [Handler] is told. The objects are the store's own: they
// must never be changed.
type Change[T any] struct {
	Kind Kind
	// Old is the version that the handler saw last, and for Deleted the final
	// state; the zero value for Added.
	Old T
	// New is the present version; the zero value for Deleted.
	New T
	// Initial marks an Added that belongs to the initial state, rather than to
	// something that has just happened.
	Initial bool
	// Lost marks a Deleted that was not seen but found out from a list: Old is
	// the last version known, not the final one.
	Lost bool
}

// Handler receives the changes of an informer's objects, one at a time, on a
// goroutine of its own, in the order in which the store made them. It may take
// its time: no one waits for it, and what it has not handled is kept (see
// [Delivery]). A panic is reported like any controller's
// (utilruntime.HandleCrash) and costs that one change.
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

// Delivery says what happens to changes that a handler has not got round to.
type Delivery uint8

const (
	// Every change is kept and delivered, however far the handler lags; what is
	// kept is bounded by nothing but memory. See [Registration.Backlog].
	Every Delivery = iota
	// Latest merges the pending changes of each object into one, from what the
	// handler saw last to what is true now: a lagging handler has no more to
	// do than there are objects. An object that came and went meanwhile is not
	// mentioned, so it is for handlers that show or copy the state. One that
	// waits for the outcome of its own writes, as a controller does, takes
	// Every and a work queue, which merges as well.
	Latest
)

// HandlerOptions configure one handler. The zero value is every change, with
// the informer's resync period.
type HandlerOptions struct {
	// Name stands in messages; empty for the handler's type with its package or, where it
	// is a function, for where that is written.
	Name string
	// Delivery is [Every] or [Latest].
	Delivery Delivery
	// Resync is how often all objects are delivered again, as Updated from an
	// object to itself; zero for the informer's own period, negative for never.
	Resync time.Duration
	// MaxBacklog, if not zero, is the backlog above which the handler is reported, once
	// until it has caught up: through Observe as [HandlerLagging], and in
	// [HandlerStatus]. Nothing is dropped. The initial state does not count.
	MaxBacklog int
}
