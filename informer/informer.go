package informer

import (
	"context"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/engine"
	"github.com/tidemark-k8s/tidemark/lister"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// Informer mirrors the objects of one kind into a store, and calls handlers for each change. [New] makes one,
// and a factory shares one. It does nothing until Run. All methods are safe for concurrent use.
//
// An Informer is a typed view of an untyped core. All views of an informer share its core.
type Informer[T Object] struct {
	core   *engine.Core
	shared Shared
	owner  *engine.Owner // owns the handlers of a lent view; nil for other views
}

// Object is the type constraint of an [Informer]: an API object with metadata, such as *corev1.Pod, or an
// interface type with these methods.
type Object interface {
	comparable
	metav1.Object
	runtime.Object
}

// untypedView has the fields of an [Informer] of any type.
type untypedView struct {
	core   *engine.Core
	shared Shared
	owner  *engine.Owner
}

// New returns an informer of a source's objects. The first call of Run, Handle or a wait reports invalid
// arguments: [ErrNoSource] for a zero source, [ErrOutOfRange] for a negative period, or the indexer's error for
// an invalid index.
func New[T Object](source reflector.Source, o Options[T]) *Informer[T] {
	return Join([]reflector.Source{source}, o)
}

// Join returns one informer of the objects of several sources, such as several namespaces. It accepts up to
// 4,096 sources.
//
// The sources must be disjoint at any one version. An object may move from one source to another: the higher
// resourceVersion wins, in whatever order the sources report the move. The store is synced when all sources
// are, and has reached a version when all sources have.
func Join[T Object](sources []reflector.Source, o Options[T]) *Informer[T] {
	return view[T](newViews(engine.New(o.untyped(), engine.Exactly(reflect.TypeFor[T]()), engine.MadeSources(sources...))))
}

// view returns an informer's view of type T.
func view[T Object](v *untypedView) *Informer[T] { return (*Informer[T])(v) }

// Run mirrors the source until ctx ends. It then waits for all goroutines of the informer, including a stuck
// handler or transform, and returns nil.
//
// An informer runs once. A second Run returns [ErrRunning], or [ErrStopped] after the first has returned. If
// a handler or another callback ends its goroutine (runtime.Goexit, as a test's t.FailNow does), the run
// ends, and Run returns [ErrExited].
func (i *Informer[T]) Run(ctx context.Context) error { return i.core.Run(ctx) }

// Start is Run in the background: wait returns when Run would, with its error.
func (i *Informer[T]) Start(ctx context.Context) (wait func() error, err error) {
	return i.core.Start(ctx)
}

// Handle registers a handler. It gets all objects of the store, marked as initial, and then every change. A
// handler registered before Run starts with Run. A late handler gets the stored objects on its own goroutine,
// and delays no other handler.
//
// Handle returns [ErrNoHandler] for a nil handler, a nil [HandlerFunc], or [Funcs] without a function. It
// returns [ErrOutOfRange] for an option out of range, and [ErrStopped] if the informer has stopped.
func (i *Informer[T]) Handle(h Handler[T], o HandlerOptions) (Registration, error) {
	if !callable(h) {
		return nil, fmt.Errorf("informer %s: %w", i.core.Name(), ErrNoHandler)
	}
	return i.handle(receiverOf(h), o)
}

// HandleBatch is [Informer.Handle] for a function that takes several changes at once, such as one that writes
// to a database. Each call gets the changes that are ready, up to n of them. A function that may panic should
// read the batch with [Batch.All].
//
// HandleBatch returns [ErrNoHandler], [ErrStopped], or [ErrOutOfRange] if n is below 1 or an option is out of
// range.
func (i *Informer[T]) HandleBatch(h func(Batch[T]), n int, o HandlerOptions) (Registration, error) {
	if h == nil {
		return nil, fmt.Errorf("informer %s: %w", i.core.Name(), ErrNoHandler)
	}
	if n < 1 {
		return nil, fmt.Errorf("informer %s: %w", i.core.Name(), engine.OutOfRange("the size of a batch", n))
	}
	return i.handle(&batchReceiver[T]{h, n}, o)
}

// handle registers the handler behind a receiver.
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

// AddIndexes adds indexes at any time. It returns once all stored objects are indexed. If it returns the
// indexer's ErrIndexExists or ErrIndexInvalid, it has added none of them.
func (i *Informer[T]) AddIndexes(indexes ...indexer.Index[T]) error {
	if err := i.core.Misused(); err != nil {
		return err
	}
	return i.core.Writer().AddIndexes(untypedIndexes(indexes)...)
}

// SetTransform sets the transform, see [Options].Transform. Nil removes it. Once the informer has started,
// SetTransform returns [ErrRunning] or [ErrStopped].
func (i *Informer[T]) SetTransform(transform func(T) (T, error)) error {
	return i.core.SetTransform(untypedTransform(transform))
}

// Indexer returns the store for reading.
func (i *Informer[T]) Indexer() *indexer.Indexer[T] {
	return indexer.View[T](i.core.Writer().Indexer())
}

// Lister returns a lister over the store.
func (i *Informer[T]) Lister() lister.Lister[T] { return lister.View[T](i.core.Lister()) }

// Synced returns a channel that is closed once the store is complete. The channel stays closed even if the
// store later falls behind the source; [Status] shows how current the store is.
func (i *Informer[T]) Synced() <-chan struct{} { return i.core.Synced() }

// Done returns a channel that is closed once the informer has stopped.
func (i *Informer[T]) Done() <-chan struct{} { return i.core.Stopped() }

// Status returns the current state of the informer, and its last errors.
func (i *Informer[T]) Status() Status { return i.core.Status() }

// Lend returns a view of the informer for a borrower, such as a lease of a factory. The view owns the
// handlers added through it, or through its Shared. end stops these handlers, and the view accepts no more.
func (i *Informer[T]) Lend() (lent *Informer[T], end func()) {
	by := &engine.Owner{}
	return view[T](i.shared.lend(by)), func() { i.core.End(by) }
}
