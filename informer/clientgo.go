package informer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/informer/internal/clientgostore"
	"github.com/tidemark-k8s/tidemark/informer/internal/limits"
	"github.com/tidemark-k8s/tidemark/internal/audit"
	"github.com/tidemark-k8s/tidemark/internal/report"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// ForListerWatcher makes an informer behind client-go's API; the constructors of package informer/cache
// call it. The objects may be of any type; example is the expected one. Misuse is returned by the next
// call that returns an error, and logged by Run.
func ForListerWatcher(lw cache.ListerWatcher, example runtime.Object, o cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
	return sharedOf(lw, example, clientgoSettings{
		options: Options[any]{Name: o.ObjectDescription, Resync: o.ResyncPeriod},
		indexes: o.Indexers,
		metrics: newMetrics(o.Identifier, o.InformerMetricsProvider),
	})
}

func sharedOf(lw cache.ListerWatcher, example runtime.Object, s clientgoSettings) *clientgoInformer {
	s.options.Name = describe(s.options.Name, example)
	indexes := clientgostore.Indexes(s.indexes, true)
	if s.source.IsZero() {
		s.source = reflector.FromListerWatcher(lw)
	}
	var objects objectType
	if example != nil {
		objects = typeLike(example)
	}
	if example != nil && s.typed {
		objects.check = typeExactly(objects.goType).check
	}
	c := newCore(s.options, objects, indexes, madeSources(s.source))
	i := newClientgoInformer(c)
	i.lw, i.example = lw, example
	i.publish(s.metrics)
	if s.logger != nil {
		c.ownLogger = s.logger
		c.logTo(context.Background())
	}
	return i
}

// clientgoInformer shows a core as client-go's SharedIndexInformer. Each core has one, with the
// state that only client-go's API needs.
type clientgoInformer struct {
	core    *core
	view    untypedView // the typed one
	store   *informerStore
	lw      cache.ListerWatcher
	example runtime.Object

	mu             sync.Mutex
	shortestResync time.Duration // the shortest resync period so far
	named          int           // handlers named after options.HandlerName
	onError        func(error)
	repeats        repeats
	errors         limits.Calls
}

var _ Shared = (*clientgoInformer)(nil)

func newClientgoInformer(c *core) *clientgoInformer {
	i := &clientgoInformer{core: c, store: newInformerStore(c), shortestResync: c.options.Resync}
	i.view = untypedView{core: c, shared: i}
	c.hooks.report = i.report
	return i
}

// report passes errors on to the watch error handler. It returns false if there is no handler, or
// the event is no error.
func (i *clientgoInformer) report(e Event) bool {
	i.mu.Lock()
	onError := i.onError
	i.mu.Unlock()
	if onError == nil {
		return false
	}
	var err error
	switch e := e.(type) {
	case reflector.Failed:
		err = e.Err
	case reflector.Skipped:
		err = e.Err
	case error:
		err = e
	default:
		return false
	}
	if err, ok := i.repeats.next(e, err, time.Now()); ok {
		i.errors.Call(err, onError)
	}
	return true
}

func (i *clientgoInformer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandlerWithOptions(h, cache.HandlerOptions{})
}

func (i *clientgoInformer) AddEventHandlerWithResyncPeriod(h cache.ResourceEventHandler, resync time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandlerWithOptions(h, cache.HandlerOptions{ResyncPeriod: &resync})
}

func (i *clientgoInformer) AddEventHandlerWithOptions(h cache.ResourceEventHandler, o cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.add(h, o, nil)
}

func (i *clientgoInformer) add(h cache.ResourceEventHandler, o cache.HandlerOptions, by *owner) (cache.ResourceEventHandlerRegistration, error) {
	if h == nil {
		return nil, fmt.Errorf("informer %s: %w", i.core.options.Name, ErrNoHandler)
	}
	requested, logger := i.core.options.Resync, klog.Background()
	if o.ResyncPeriod != nil {
		requested = *o.ResyncPeriod
	}
	if o.Logger != nil {
		logger = *o.Logger
	}
	return i.register(&clientgoReceiver{h, o.Logger}, i.resyncPeriod(logger, requested), by)
}

// register adds a handler with exactly this resync period.
func (i *clientgoInformer) register(to receiver, resync time.Duration, by *owner) (cache.ResourceEventHandlerRegistration, error) {
	r := i.core.registration(to, HandlerOptions{Name: i.nameOf(to), Resync: resync}, by)
	if err := i.core.addHandler(r); err != nil {
		return nil, err
	}
	return &clientgoRegistration{i.core, r}, nil
}

// nameOf returns the name of a handler in messages.
func (i *clientgoInformer) nameOf(to receiver) string {
	if i.core.options.HandlerName == "" {
		return to.name()
	}
	i.mu.Lock()
	defer i.mu.Unlock()

	i.named++
	return fmt.Sprintf("%s %d", i.core.options.HandlerName, i.named)
}

// minimumResync is client-go's minimumResyncPeriod.
const minimumResync = time.Second

// resyncPeriod returns the period that client-go would use for a requested one: at least a second,
// none if the informer was made without resyncs and, after the start, not shorter than the shortest
// before. A negative request means no period of the handler's own: it gets the shortest so far.
func (i *clientgoInformer) resyncPeriod(logger klog.Logger, requested time.Duration) time.Duration {
	switch {
	case requested == 0:
		return 0
	case i.core.options.Resync == 0:
		logger.Info("No resyncs, since the informer was made without", "informer", i.core.options.Name, "requested", requested)
		return 0
	}
	i.core.mu.Lock()
	started := i.core.phase != created
	i.core.mu.Unlock()
	i.mu.Lock()
	defer i.mu.Unlock()

	if requested < 0 {
		requested = i.shortestResync
	}
	requested = max(requested, minimumResync)
	if !started {
		i.shortestResync = min(i.shortestResync, requested)
	}
	return max(requested, i.shortestResync)
}

// RemoveEventHandler ends a registration. An unknown one counts as ended.
func (i *clientgoInformer) RemoveEventHandler(handle cache.ResourceEventHandlerRegistration) error {
	r, ok := handle.(*clientgoRegistration)
	if !ok {
		return fmt.Errorf("%w: %T is not a registration of informer %s", ErrType, handle, i.core.options.Name)
	}
	if r != nil && r.core == i.core {
		r.registration.Stop()
	}
	return nil
}

func (i *clientgoInformer) GetStore() cache.Store { return i.store.Store }

func (i *clientgoInformer) GetIndexer() cache.Indexer { return i.store.Store }

func (i *clientgoInformer) GetController() cache.Controller { return clientgoController{i} }

func (i *clientgoInformer) Run(stop <-chan struct{}) {
	i.RunWithContext(wait.ContextForChannel(stop))
}

func (i *clientgoInformer) RunWithContext(ctx context.Context) {
	switch err := i.core.Run(ctx); {
	case errors.Is(err, ErrExited):
		report.Error(ctx, err, "The informer has stopped")
	case err != nil:
		klog.FromContext(ctx).Error(err, "The informer does not run")
	}
}

func (i *clientgoInformer) HasSynced() bool { return i.core.isSynced() }

func (i *clientgoInformer) HasSyncedChecker() cache.DoneChecker {
	return clientgoChecker{checkerName(i.core.options.Name), i.core.synced}
}

func (i *clientgoInformer) LastSyncResourceVersion() string {
	return i.core.writer.Indexer().Version()
}

func (i *clientgoInformer) IsStopped() bool { return closed(i.core.stopped) }

func (i *clientgoInformer) SetWatchErrorHandler(h cache.WatchErrorHandler) error {
	if h == nil {
		return i.SetWatchErrorHandlerWithContext(nil)
	}
	return i.SetWatchErrorHandlerWithContext(func(_ context.Context, r *cache.Reflector, err error) { h(r, err) })
}

// SetWatchErrorHandlerWithContext sets the function called with every error of a list or watch, and
// every quarantined object, one call at a time, with no lock held. While a call hangs, further errors
// are dropped, and the next call says how many. The reflector passed to it only has a name, and never runs. Nil stands
// for the log.
func (i *clientgoInformer) SetWatchErrorHandlerWithContext(h cache.WatchErrorHandlerWithContext) error {
	c := i.core
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.phase != created {
		return fmt.Errorf("informer %s: the watch error handler is set before Run: %w", c.options.Name, ErrRunning)
	}
	inert := sync.OnceValue(func() *cache.Reflector {
		return cache.NewReflectorWithOptions(i.lw, i.example, i.store, cache.ReflectorOptions{Name: c.options.Name})
	})
	i.mu.Lock()
	defer i.mu.Unlock()

	i.onError = nil
	if h != nil {
		i.onError = func(err error) { h(c.runContext(), inert(), err) }
	}
	return nil
}

// WaitSynced is [Informer.WaitSynced].
func (i *clientgoInformer) WaitSynced(ctx context.Context) error { return i.core.WaitSynced(ctx) }

// WaitDelivered is [Informer.WaitDelivered], for users of client-go's API.
func (i *clientgoInformer) WaitDelivered(ctx context.Context, version string) error {
	return i.core.WaitDelivered(ctx, version)
}

// WaitFresh is [Informer.WaitFresh].
func (i *clientgoInformer) WaitFresh(ctx context.Context) error { return i.core.WaitFresh(ctx) }

// Frozen is for package audit, which tests use.
func (i *clientgoInformer) Frozen() audit.Frozen { return i.core.frozen() }

// Start is [Shared].Start.
func (i *clientgoInformer) Start(ctx context.Context) (wait func() error, err error) {
	return i.core.Start(ctx)
}

// Status is [Informer.Status].
func (i *clientgoInformer) Status() Status { return i.core.Status() }

// Inspector is [Informer.Inspector].
func (i *clientgoInformer) Inspector() *Inspector { return i.core.Inspector() }

// Done is [Informer.Done].
func (i *clientgoInformer) Done() <-chan struct{} { return i.core.stopped }

// SetTransform sets the transform, nil for none. Its results must be of the informer's type, which
// for [ForListerWatcher] is any.
func (i *clientgoInformer) SetTransform(f cache.TransformFunc) error {
	return i.core.setTransform(f)
}

func (i *clientgoInformer) AddIndexers(ix cache.Indexers) error {
	if err := i.core.misused(); err != nil {
		return err
	}
	if i.IsStopped() {
		return fmt.Errorf("indexers were not added to informer %s: %w", i.core.options.Name, ErrStopped)
	}
	return i.store.AddIndexers(ix)
}

// clientgoController is the result of GetController. It answers, and runs nothing.
type clientgoController struct{ informer *clientgoInformer }

func (clientgoController) Run(<-chan struct{})            {}
func (clientgoController) RunWithContext(context.Context) {}
func (c clientgoController) HasSynced() bool              { return c.informer.HasSynced() }
func (c clientgoController) LastSyncResourceVersion() string {
	return c.informer.LastSyncResourceVersion()
}
func (c clientgoController) HasSyncedChecker() cache.DoneChecker {
	return c.informer.HasSyncedChecker()
}

// clientgoChecker is client-go's DoneChecker.
type clientgoChecker struct {
	name string
	done <-chan struct{}
}

// checkerName returns the name of an informer's client-go checkers.
func checkerName(informer string) string { return "SharedIndexInformer " + informer }

func (c clientgoChecker) Name() string          { return c.name }
func (c clientgoChecker) Done() <-chan struct{} { return c.done }
