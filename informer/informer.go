package informer

import (
	"context"
	"fmt"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/lister"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// Informer mirrors the objects of one kind into a store, and tells handlers about changes. [New] or
// a factory makes it; it does nothing until Run. All methods are safe for any goroutine.
//
// An Informer is a typed view of an untyped core. All views of a core have the same state.
type Informer[T Object] struct {
	core   *core
	shared Shared
	owner  *owner // set only in a view that was lent
}

// untypedView has the same fields as an [Informer] of any type, and converts to one.
type untypedView struct {
	core   *core
	shared Shared
	owner  *owner
}

// New returns an informer of one source. Misuse (a nil source, a negative period, invalid indexes)
// is returned by the first Run, Handle or WaitSynced, as [ErrNoSource], [ErrTooManySources],
// [ErrNegative] or the indexer's errors.
func New[T Object](source reflector.Source, o Options[T]) *Informer[T] {
	return Join([]reflector.Source{source}, o)
}

// Join returns one informer of several sources, such as some namespaces. The sources must be
// disjoint at any one version. An object may move from one source to another: if both report it, in
// whatever order, the higher resourceVersion wins. The store is synced, and at a version, when all
// sources are. There may be 65,535 sources; an event costs the same for any number.
func Join[T Object](sources []reflector.Source, o Options[T]) *Informer[T] {
	untyped := o.Untyped()
	return view[T](newViews(newCore(untyped, typeOf[T](), withNamespaceIndex(untyped.Indexes), sources...)))
}

// view converts an untyped view to an informer of Ts.
func view[T Object](v *untypedView) *Informer[T] { return (*Informer[T])(v) }

// Run mirrors the source until ctx ends. It then returns nil, once all goroutines of the informer
// have ended; a stuck handler holds it up. An informer runs once: a second Run returns
// [ErrRunning], or [ErrStopped] after the first has returned.
func (i *Informer[T]) Run(ctx context.Context) error { return i.core.Run(ctx) }

// Start is Run in the background; wait returns when Run would. Unlike Run, Start may be called
// again after the informer has stopped. The informer then continues from the objects in its store,
// and its handlers are told only the differences. It asks a server for the changes since then, by a
// watch, and lists any other source in full. Synced stays closed meanwhile, and the store readable.
func (i *Informer[T]) Start(ctx context.Context) (wait func(), err error) { return i.core.Start(ctx) }

// Handle registers a handler. The handler is told all objects of the store, marked as initial, and
// then every change. If the informer does not run yet, delivery starts with Run. Nobody waits while
// a late handler is told the initial state.
//
// It returns [ErrNoHandler]; [ErrNegative] for a negative bound on the backlog; or [ErrStopped] if
// the informer has stopped and was not begun by Start.
func (i *Informer[T]) Handle(h Handler[T], o HandlerOptions) (Registration, error) {
	if h == nil {
		return nil, fmt.Errorf("informer %s: %w", i.core.options.Name, ErrNoHandler)
	}
	return i.core.handle(receiverOf(h), o, i.owner)
}

// HandleBatch is [Informer.Handle] for a function that is told up to n changes a call, as many as
// are ready: to write them to a database, say. The function may read them in any way; if it may
// panic, it should use [Batch.All].
//
// It returns [ErrNoHandler], [ErrNegative] for n below 1 or a negative bound, or [ErrStopped].
func (i *Informer[T]) HandleBatch(h func(Batch[T]), n int, o HandlerOptions) (Registration, error) {
	if h == nil {
		return nil, fmt.Errorf("informer %s: %w", i.core.options.Name, ErrNoHandler)
	}
	if n < 1 {
		return nil, fmt.Errorf("informer %s: a batch of %d changes: %w", i.core.options.Name, n, ErrNegative)
	}
	return i.core.handle(&batchReceiver[T]{h, n}, o, i.owner)
}

// handle registers a handler behind its receiver.
func (c *core) handle(to receiver, o HandlerOptions, by *owner) (Registration, error) {
	r, err := c.newHandler(to, o, by)
	if err != nil {
		return nil, err
	}
	if err := c.join(r, true); err != nil {
		return nil, err
	}
	return r, nil
}

// newHandler makes a registration. Options that are not set default to the informer's.
func (c *core) newHandler(to receiver, o HandlerOptions, by *owner) (*registration, error) {
	if o.MaxBacklog < 0 {
		return nil, fmt.Errorf("informer %s: bound on the backlog of handler %q: %w", c.options.Name, o.Name, ErrNegative)
	}
	if o.Name == "" {
		o.Name = to.name()
	}
	if o.Resync == 0 {
		o.Resync = c.options.Resync
	}
	r := newRegistration(c.processor, c.receiving(to), o)
	r.owner = by
	return r, nil
}

// AddIndexes adds indexes, at any time. It returns once the stored objects are indexed, too. On the
// indexer's ErrIndexExists or ErrIndexInvalid it adds none.
func (i *Informer[T]) AddIndexes(indexes ...indexer.Index[T]) error {
	if err := i.core.misused(); err != nil {
		return err
	}
	return i.core.writer.AddIndexes(untypedIndexes(indexes)...)
}

// SetTransform sets the transform, see [Options].Transform; nil for none. After
// Run it returns [ErrRunning] or [ErrStopped].
func (i *Informer[T]) SetTransform(transform func(T) (T, error)) error {
	return i.core.setTransform(untypedTransform(transform))
}

// Indexer returns the read side of the store.
func (i *Informer[T]) Indexer() *indexer.Indexer[T] { return indexer.View[T](i.core.writer.Indexer()) }

// Lister returns a lister over the store.
func (i *Informer[T]) Lister() lister.Lister[T] { return lister.View[T](i.core.lister) }

// Synced returns a channel that is closed once the store is complete. The channel stays closed from
// then on; [Status] says whether the store is up to date now.
func (i *Informer[T]) Synced() <-chan struct{} { return i.core.synced }

// Done returns a channel that is closed once the informer has stopped.
func (i *Informer[T]) Done() <-chan struct{} { return i.core.done() }

// WaitSynced waits until the store is complete, and returns nil then. It returns [ErrStopped] if
// the informer stops first, and [ErrNotSynced] with the context's cause if ctx ends, each with the
// last error of a list or watch; or the error in the arguments of New.
func (i *Informer[T]) WaitSynced(ctx context.Context) error { return i.core.WaitSynced(ctx) }

// WaitVersion waits until the store holds every change up to a resourceVersion, such as the version
// returned by a write: read your writes. The informer notices a write by its event or, if a
// selector hides the event, by the next event or bookmark.
//
// It returns nil then; [ErrVersion] if the version does not compare with the store's, or the source
// has no versions; [ErrQuarantined] if the object of exactly this version could not be prepared;
// [ErrStopped] if the informer stops; and otherwise an error that wraps the context's cause and the
// last error of a list or watch. All sources have to reach the version; see [Informer.WaitFor].
func (i *Informer[T]) WaitVersion(ctx context.Context, version string) error {
	return i.core.WaitVersion(ctx, version)
}

// Status returns the state of the informer.
func (i *Informer[T]) Status() Status { return i.core.Status() }
