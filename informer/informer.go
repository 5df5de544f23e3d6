package informer

import (
	"context"
	"fmt"
	"reflect"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/engine"
	"github.com/tidemark-k8s/tidemark/lister"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// Informer mirrors the objects of one kind into a store and calls handlers for each change. [New]
// makes one, or a factory lends one. It does nothing until Run. All methods may be called from any
// goroutine.
//
// An Informer is a typed view of an untyped core, which all views of the same informer share.
type Informer[T Object] struct {
	core   *engine.Core
	shared Shared
	owner  *engine.Owner // the borrower of a lent view; nil otherwise
}

// untypedView has the fields of an [Informer] of any type.
type untypedView struct {
	core   *engine.Core
	shared Shared
	owner  *engine.Owner
}

// New returns an informer of the objects of a source. Invalid arguments (a zero source, a negative
// period, invalid indexes) are reported by the first Run, Handle or WaitSynced: as [ErrNoSource],
// [ErrNegative], an error of the indexer, or an error for too many sources.
func New[T Object](source reflector.Source, o Options[T]) *Informer[T] {
	return Join([]reflector.Source{source}, o)
}

// Join returns one informer of the objects of several sources, for instance of several namespaces.
// The sources must be disjoint at any one version: an object may move from one source to another,
// and the higher resourceVersion wins, in whatever order the two sources report the move. The store
// is synced when all sources are, and has reached a version when all sources have. Join accepts up
// to 4,096 sources.
func Join[T Object](sources []reflector.Source, o Options[T]) *Informer[T] {
	return view[T](newViews(engine.New(o.untyped(), engine.Exactly(reflect.TypeFor[T]()), engine.MadeSources(sources...))))
}

// view returns an informer's view of type T.
func view[T Object](v *untypedView) *Informer[T] { return (*Informer[T])(v) }

// Run mirrors the source until ctx ends. It then waits for all goroutines of the informer, a stuck
// handler or transform included, and returns nil. An informer runs once: a second Run returns
// [ErrRunning], or [ErrStopped] after the first has returned. If a function ends its goroutine
// (runtime.Goexit, as t.FailNow of a test does), be it a handler or another one, the run ends, and
// Run returns [ErrExited].
func (i *Informer[T]) Run(ctx context.Context) error { return i.core.Run(ctx) }

// Start is Run in the background: wait returns when Run would, with its error.
func (i *Informer[T]) Start(ctx context.Context) (wait func() error, err error) {
	return i.core.Start(ctx)
}

// Handle registers a handler: it gets all objects of the store, marked as initial, and from then
// on every change. A handler registered before Run begins with Run. Nobody waits for the replay of
// the store to a late handler.
//
// Handle returns [ErrNoHandler] if there is nothing to call (nil, a nil [HandlerFunc], [Funcs] without
// a function), [ErrNegative] for an option out of range, or [ErrStopped] if the informer has stopped.
func (i *Informer[T]) Handle(h Handler[T], o HandlerOptions) (Registration, error) {
	if !callable(h) {
		return nil, fmt.Errorf("informer %s: %w", i.core.Name(), ErrNoHandler)
	}
	return i.handle(receiverOf(h), o)
}

// HandleBatch is [Informer.Handle] for a function that takes the changes that are ready, up to n a
// call: a function that writes to a database, for example. The function may read the batch in any
// way; if it may panic, it should use [Batch.All].
//
// HandleBatch returns [ErrNoHandler], [ErrNegative] if n is below 1 or an option is out of range, or
// [ErrStopped].
func (i *Informer[T]) HandleBatch(h func(Batch[T]), n int, o HandlerOptions) (Registration, error) {
	if h == nil {
		return nil, fmt.Errorf("informer %s: %w", i.core.Name(), ErrNoHandler)
	}
	if n < 1 {
		return nil, fmt.Errorf("informer %s: %w", i.core.Name(), engine.OutOfRange("the size of a batch", n))
	}
	return i.handle(&batchReceiver[T]{h, n}, o)
}

// handle registers a handler, given as its receiver.
func (i *Informer[T]) handle(to engine.Receiver, o HandlerOptions) (Registration, error) {
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("informer %s: handler %q: %w", i.core.Name(), o.Name, err)
	}
	r, err := i.core.Handle(to, engine.HandlerOptions{Name: o.Name, Merge: o.Delivery != Every, Resync: o.Resync}, i.owner)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// AddIndexes adds indexes, at any time, and indexes all stored objects before it returns. If it
// returns the indexer's ErrIndexExists or ErrIndexInvalid, it has added none.
func (i *Informer[T]) AddIndexes(indexes ...indexer.Index[T]) error {
	if err := i.core.Misused(); err != nil {
		return err
	}
	return i.core.Writer().AddIndexes(untypedIndexes(indexes)...)
}

// SetTransform sets the transform, see [Options].Transform; nil removes it. Once the informer has
// begun to run, SetTransform returns [ErrRunning] or [ErrStopped].
func (i *Informer[T]) SetTransform(transform func(T) (T, error)) error {
	return i.core.SetTransform(untypedTransform(transform))
}

// Indexer returns the store for reading.
func (i *Informer[T]) Indexer() *indexer.Indexer[T] {
	return indexer.View[T](i.core.Writer().Indexer())
}

// Lister returns a lister over the store.
func (i *Informer[T]) Lister() lister.Lister[T] { return lister.View[T](i.core.Lister()) }

// Synced returns a channel that is closed once the store is complete. It stays closed even if the
// store falls behind the source later: see [Status] for how up to date the store is.
func (i *Informer[T]) Synced() <-chan struct{} { return i.core.Synced() }

// Done returns a channel that is closed once the informer has stopped.
func (i *Informer[T]) Done() <-chan struct{} { return i.core.Stopped() }

// Status returns the state of the informer: what it does now, and its last errors.
func (i *Informer[T]) Status() Status { return i.core.Status() }

// Lend returns a view of the informer for a borrower, such as a lease of a factory. The view owns the
// handlers added through it, or through its Shared. end stops them, and lets the view take no more.
func (i *Informer[T]) Lend() (lent *Informer[T], end func()) {
	by := &engine.Owner{}
	return view[T](i.shared.lend(by)), func() { i.core.End(by) }
}
