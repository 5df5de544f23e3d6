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
	"github.com/tidemark-k8s/tidemark/informer/internal/engine"
	"github.com/tidemark-k8s/tidemark/informer/internal/limits"
	"github.com/tidemark-k8s/tidemark/internal/audit"
	"github.com/tidemark-k8s/tidemark/internal/report"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// ForListerWatcher makes an informer with client-go's API. The constructors of package informer/cache call
// it. The objects may be of any type; example is the expected one. The next call that returns an error
// reports misuse, and Run logs it.
func ForListerWatcher(lw cache.ListerWatcher, example runtime.Object, o cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
	return sharedOf(lw, example, clientgoSettings{
		options: engine.Options{Name: o.ObjectDescription, Resync: o.ResyncPeriod},
		indexes: o.Indexers,
		metrics: newMetrics(o.Identifier, o.InformerMetricsProvider),
	})
}

func sharedOf(lw cache.ListerWatcher, example runtime.Object, s clientgoSettings) *clientgoInformer {
	s.options.Name = describe(s.options.Name, example)
	if s.source.IsZero() {
		s.source = reflector.FromListerWatcher(lw)
	}
	s.options.Indexes = clientgostore.Indexes(s.indexes, true)
	c := engine.New(s.options, s.objects(example), engine.MadeSources(s.source))
	if s.logger != nil {
		c.LogTo(*s.logger)
	}
	i := newClientgoInformer(c)
	i.lw, i.example = lw, example
	i.publish(s.metrics)
	return i
}

// clientgoInformer presents a core as client-go's SharedIndexInformer. Each core has one, which also holds
// the state that only client-go's API needs.
type clientgoInformer struct {
	core    *engine.Core
	view    untypedView // the typed one
	store   *informerStore
	lw      cache.ListerWatcher
	example runtime.Object

	mu             sync.Mutex
	shortestResync time.Duration // of all handlers so far
	named          int           // handlers named after options.HandlerName
	onError        func(error)
	repeats        repeats
	errors         limits.Calls
}

var _ Shared = (*clientgoInformer)(nil)

func newClientgoInformer(c *engine.Core) *clientgoInformer {
	i := &clientgoInformer{core: c, store: newInformerStore(c), shortestResync: c.Resync()}
	i.view = untypedView{core: c, shared: i}
	c.Connect(i.report)
	return i
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

func (i *clientgoInformer) add(h cache.ResourceEventHandler, o cache.HandlerOptions, by *engine.Owner) (cache.ResourceEventHandlerRegistration, error) {
	if h == nil {
		return nil, fmt.Errorf("informer %s: %w", i.core.Name(), ErrNoHandler)
	}
	requested, logger := i.core.Resync(), klog.Background()
	if o.ResyncPeriod != nil {
		requested = *o.ResyncPeriod
	}
	if o.Logger != nil {
		logger = *o.Logger
	}
	return i.register(&clientgoReceiver{h, o.Logger}, i.resyncPeriod(logger, requested), by)
}

// register adds a handler with exactly this resync period.
func (i *clientgoInformer) register(to engine.Receiver, resync time.Duration, by *engine.Owner) (cache.ResourceEventHandlerRegistration, error) {
	r, err := i.core.Register(to, engine.HandlerOptions{Name: i.nameOf(to), Resync: resync}, by)
	if err != nil {
		return nil, err
	}
	return &clientgoRegistration{i.core, r}, nil
}

// nameOf returns the name of a handler in messages.
func (i *clientgoInformer) nameOf(to engine.Receiver) string {
	if i.core.HandlerName() == "" {
		return to.Name()
	}
	i.mu.Lock()
	defer i.mu.Unlock()

	i.named++
	return fmt.Sprintf("%s %d", i.core.HandlerName(), i.named)
}

// minimumResync is client-go's minimumResyncPeriod.
const minimumResync = time.Second

// resyncPeriod returns the period that client-go would use for a requested one. It is at least a second and,
// after the start, at least the shortest period before. There is none if the informer has no resync period. A
// negative request stands for the shortest period so far.
func (i *clientgoInformer) resyncPeriod(logger klog.Logger, requested time.Duration) time.Duration {
	switch {
	case requested == 0:
		return 0
	case i.core.Resync() == 0:
		logger.Info("No resyncs: the informer has no resync period", "informer", i.core.Name(), "requested", requested)
		return 0
	}
	started := i.core.Began()
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

// RemoveEventHandler ends a registration. For an unknown one it does nothing.
func (i *clientgoInformer) RemoveEventHandler(handle cache.ResourceEventHandlerRegistration) error {
	r, ok := handle.(*clientgoRegistration)
	if !ok {
		return fmt.Errorf("%w: %T is not a registration of informer %s", ErrType, handle, i.core.Name())
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
		klog.FromContext(ctx).Error(err, "The informer cannot run")
	}
}

func (i *clientgoInformer) HasSynced() bool { return i.core.IsSynced() }

func (i *clientgoInformer) HasSyncedChecker() cache.DoneChecker {
	return clientgoChecker{checkerName(i.core.Name()), i.core.Synced()}
}

func (i *clientgoInformer) LastSyncResourceVersion() string {
	return i.core.Writer().Indexer().Version()
}

func (i *clientgoInformer) IsStopped() bool { return i.core.IsStopped() }

// WaitSynced is [Informer.WaitSynced].
func (i *clientgoInformer) WaitSynced(ctx context.Context) error { return i.core.WaitSynced(ctx) }

// WaitDelivered is [Informer.WaitDelivered], for users of client-go's API.
func (i *clientgoInformer) WaitDelivered(ctx context.Context, version string) error {
	return i.core.WaitDelivered(ctx, version)
}

// WaitFresh is [Informer.WaitFresh].
func (i *clientgoInformer) WaitFresh(ctx context.Context) error { return i.core.WaitFresh(ctx) }

// Frozen is for package audit, which only tests use.
func (i *clientgoInformer) Frozen() audit.Frozen { return i.core.Frozen() }

// Start is [Shared].Start.
func (i *clientgoInformer) Start(ctx context.Context) (wait func() error, err error) {
	return i.core.Start(ctx)
}

// Status is [Informer.Status].
func (i *clientgoInformer) Status() Status { return i.core.Status() }

// Inspector is [Informer.Inspector].
func (i *clientgoInformer) Inspector() *Inspector { return inspectorOf(i.core) }

// Done is [Informer.Done].
func (i *clientgoInformer) Done() <-chan struct{} { return i.core.Stopped() }

// SetTransform sets the transform; nil removes it. Its results must be of the informer's type, which is any
// type for [ForListerWatcher].
func (i *clientgoInformer) SetTransform(f cache.TransformFunc) error {
	return i.core.SetTransform(f)
}

func (i *clientgoInformer) AddIndexers(ix cache.Indexers) error {
	if err := i.core.Misused(); err != nil {
		return err
	}
	if i.IsStopped() {
		return fmt.Errorf("indexers were not added to informer %s: %w", i.core.Name(), ErrStopped)
	}
	return i.store.AddIndexers(ix)
}

// clientgoController is the result of GetController. Its methods answer, but run nothing.
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

// ForControllerRuntime is [ForListerWatcher] for the cache of a controller-runtime manager, whose
// ListerWatchers only send requests:
//
//	config.Wrap(reflector.Wire)
//	manager, err := manager.New(config, manager.Options{Cache: cache.Options{NewInformer: informer.ForControllerRuntime}})
//
// With [reflector.Wire] in the manager's configuration, the informers decode the server's answers themselves.
// They hold only objects of example's Go type, as the manager's client requires; other objects are left out
// and reported (D25). So [As] of that type returns their typed views. The module controllerruntime does the
// same, and has options.
func ForControllerRuntime(lw cache.ListerWatcher, example runtime.Object, resync time.Duration, ix cache.Indexers) cache.SharedIndexInformer {
	return sharedOf(lw, example, clientgoSettings{
		source:  reflector.FromControllerRuntime(lw, example),
		options: engine.Options{Resync: resync},
		indexes: ix,
		metrics: newMetrics(cache.InformerNameAndResource{}, nil),
		typed:   true,
	})
}
