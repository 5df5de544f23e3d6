package informer

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/internal/goexit"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// NewSharedInformer is client-go's function of that name, over this module's
// informer.
func NewSharedInformer(lw cache.ListerWatcher, example runtime.Object, resync time.Duration) cache.SharedInformer {
	return NewSharedIndexInformer(lw, example, resync, cache.Indexers{})
}

// NewSharedIndexInformer is client-go's function of that name, over this
// module's informer. Its type is also that of controller-runtime's
// cache.Options.NewInformer. The objects are of any type; example tells which
// ones to expect. Misuse is told by the next call that returns an error, and
// by Run to the log.
func NewSharedIndexInformer(lw cache.ListerWatcher, example runtime.Object, resync time.Duration, ix cache.Indexers) cache.SharedIndexInformer {
	return NewSharedIndexInformerWithOptions(lw, example, cache.SharedIndexInformerOptions{ResyncPeriod: resync, Indexers: ix})
}

// NewSharedIndexInformerWithOptions is client-go's function of that name, over
// this module's informer.
func NewSharedIndexInformerWithOptions(lw cache.ListerWatcher, example runtime.Object, o cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
	return newClientgoInformer(lw, example, clientgoSettings{
		options: Options[any]{Name: o.ObjectDescription, Resync: o.ResyncPeriod},
		indexes: o.Indexers,
		metrics: newMetrics(o.Identifier, o.InformerMetricsProvider),
	})
}

// ForControllerRuntime is [NewSharedIndexInformer] for the cache of a
// controller-runtime manager, whose ListerWatchers are known to be plain requests:
//
//	config.Wrap(reflector.Wire)
//	manager, err := manager.New(config, manager.Options{Cache: cache.Options{NewInformer: informer.ForControllerRuntime}})
//
// With [reflector.Wire] in the manager's configuration the informers read the
// answers of the server themselves.
func ForControllerRuntime(lw cache.ListerWatcher, example runtime.Object, resync time.Duration, ix cache.Indexers) cache.SharedIndexInformer {
	return newClientgoInformer(lw, example, clientgoSettings{
		source:  reflector.FromControllerRuntime(lw, example),
		options: Options[any]{Resync: resync},
		indexes: ix,
		metrics: newMetrics(cache.InformerNameAndResource{}, nil),
	})
}

func newClientgoInformer(lw cache.ListerWatcher, example runtime.Object, s clientgoSettings) *clientgoInformer[any] {
	s.options.Name = describe(s.options.Name, example)
	indexes, funcs := clientgoIndexes[any](s.indexes, true)
	if s.source == nil {
		s.source = reflector.FromListerWatcher(lw)
	}
	c := newBareCore(s.options, indexes, s.source)
	c.clientgo.expect(example)
	c.clientgo.funcs = funcs
	c.clientgo.lw, c.clientgo.example = lw, example
	c.clientgo.metrics.Store(s.metrics)
	if s.logger != nil {
		c.logger = logged(*s.logger, c.options.Name)
	}
	return &clientgoInformer[any]{c}
}

// Shared shows the informer as client-go's SharedIndexInformer: the same store,
// the same run.
func (i *Informer[T]) Shared() cache.SharedIndexInformer {
	if i.boxed != nil {
		return &clientgoInformer[any]{i.boxed}
	}
	return &clientgoInformer[T]{i.core}
}

// clientgo is what the core keeps for the client-go face, which has no state
// of its own.
type clientgo struct {
	lw      cache.ListerWatcher
	example runtime.Object
	goType  reflect.Type            // what the objects must be; nil for anything
	kind    schema.GroupVersionKind // likewise, of unstructured objects
	exact   bool                    // what a transform makes must be of goType too

	metrics  atomic.Pointer[metrics] // nil where nothing is measured; set before Run
	detector cache.MutationDetector  // nil unless the environment asks for it

	mu          sync.Mutex
	funcs       cache.Indexers // the index functions as they were given
	resyncCheck time.Duration  // the shortest resync period so far
	onError     func(error)
}

// expect makes the reflector check what it gets against an example.
func (f *clientgo) expect(example runtime.Object) {
	if example == nil {
		return
	}
	f.goType, f.kind = expected(example)
}

// observe passes errors on to the watch error handler. It returns false if
// there is none, or no error.
func (f *clientgo) observe(e Event) bool {
	f.mu.Lock()
	onError := f.onError
	f.mu.Unlock()
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
	goexit.Apart(func() { onError(err) })
	return true
}

// clientgoInformer shows a core as client-go's SharedIndexInformer.
type clientgoInformer[T any] struct{ core *core[T] }

var _ cache.SharedIndexInformer = (*clientgoInformer[any])(nil)

func (i *clientgoInformer[T]) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandlerWithOptions(h, cache.HandlerOptions{})
}

func (i *clientgoInformer[T]) AddEventHandlerWithResyncPeriod(h cache.ResourceEventHandler, resync time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandlerWithOptions(h, cache.HandlerOptions{ResyncPeriod: &resync})
}

func (i *clientgoInformer[T]) AddEventHandlerWithOptions(h cache.ResourceEventHandler, o cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
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
	if requested < 0 {
		return nil, fmt.Errorf("informer %s: resync: %w", i.core.options.Name, ErrNegative)
	}
	return i.register(h, i.core.resyncPeriod(logger, requested), logger)
}

// register adds a handler that is resynced exactly as often as it says.
func (i *clientgoInformer[T]) register(h cache.ResourceEventHandler, resync time.Duration, logger klog.Logger) (*clientgoRegistration[T], error) {
	to := newClientgoReceiver[T](h, logger)
	r := newRegistration(i.core, to, HandlerOptions{Name: to.name(), Resync: resync})
	if err := i.core.join(r); err != nil {
		return nil, err
	}
	return &clientgoRegistration[T]{r}, nil
}

// minimumResync is client-go's minimumResyncPeriod.
const minimumResync = time.Second

// resyncPeriod is what client-go makes of a requested period: at least a
// second, nothing where the informer was made without resyncs, and not
// shorter than the shortest before the start.
func (c *core[T]) resyncPeriod(logger klog.Logger, requested time.Duration) time.Duration {
	c.mu.Lock()
	started := c.phase != created
	c.mu.Unlock()
	f := &c.clientgo
	f.mu.Lock()
	defer f.mu.Unlock()

	switch {
	case requested == 0:
		return 0
	case f.resyncCheck == 0:
		logger.Info("No resyncs, since the informer was made without", "informer", c.options.Name, "requested", requested)
		return 0
	}
	requested = max(requested, minimumResync)
	if !started {
		f.resyncCheck = min(f.resyncCheck, requested)
	}
	return max(requested, f.resyncCheck)
}

// RemoveEventHandler ends a registration; one that is unknown is gone already.
func (i *clientgoInformer[T]) RemoveEventHandler(handle cache.ResourceEventHandlerRegistration) error {
	r, ok := handle.(*clientgoRegistration[T])
	if !ok {
		return fmt.Errorf("%w: %T is not a registration of informer %s", ErrType, handle, i.core.options.Name)
	}
	if r != nil && r.registration.core == i.core {
		r.registration.Stop()
	}
	return nil
}

func (i *clientgoInformer[T]) GetStore() cache.Store { return i.GetIndexer() }

func (i *clientgoInformer[T]) GetIndexer() cache.Indexer { return newClientgoStore(i.core) }

func (i *clientgoInformer[T]) GetController() cache.Controller { return clientgoController[T]{i} }

func (i *clientgoInformer[T]) Run(stop <-chan struct{}) {
	i.RunWithContext(wait.ContextForChannel(stop))
}

func (i *clientgoInformer[T]) RunWithContext(ctx context.Context) {
	if err := i.core.Run(ctx); err != nil {
		klog.FromContext(ctx).Error(err, "The informer does not run")
	}
}

func (i *clientgoInformer[T]) HasSynced() bool { return i.core.isSynced() }

func (i *clientgoInformer[T]) HasSyncedChecker() cache.DoneChecker {
	return clientgoChecker{"informer " + i.core.options.Name, i.core.synced}
}

func (i *clientgoInformer[T]) LastSyncResourceVersion() string {
	return i.core.writer.Indexer().Version()
}

func (i *clientgoInformer[T]) IsStopped() bool { return closed(i.core.done()) }

func (i *clientgoInformer[T]) SetWatchErrorHandler(h cache.WatchErrorHandler) error {
	if h == nil {
		return i.SetWatchErrorHandlerWithContext(nil)
	}
	return i.SetWatchErrorHandlerWithContext(func(_ context.Context, r *cache.Reflector, err error) { h(r, err) })
}

// SetWatchErrorHandlerWithContext sets who is told of every error of a list or
// watch, and of every object that is quarantined. The reflector that it is
// given is there for its name alone, and never runs. Nil stands for the log.
func (i *clientgoInformer[T]) SetWatchErrorHandlerWithContext(h cache.WatchErrorHandlerWithContext) error {
	c := i.core
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.phase != created {
		return fmt.Errorf("informer %s: the watch error handler is set before Run: %w", c.options.Name, ErrRunning)
	}
	f := &c.clientgo
	inert := sync.OnceValue(func() *cache.Reflector {
		return cache.NewReflectorWithOptions(f.lw, f.example, newClientgoStore(c), cache.ReflectorOptions{Name: c.options.Name})
	})
	f.mu.Lock()
	defer f.mu.Unlock()

	f.onError = nil
	if h != nil {
		f.onError = func(err error) { h(c.runContext(), inert(), err) }
	}
	return nil
}

// SetTransform sets the transform, nil for none. What it returns must be of
// the informer's type, which for NewSharedIndexInformer is any.
func (i *clientgoInformer[T]) SetTransform(f cache.TransformFunc) error {
	if f == nil {
		return i.core.setTransform(nil)
	}
	transform := i.core.clientgo.exactly(f)
	return i.core.setTransform(func(obj T) (T, error) {
		result, err := transform(obj)
		if err != nil {
			var none T
			return none, err
		}
		return as[T](result)
	})
}

func (i *clientgoInformer[T]) AddIndexers(ix cache.Indexers) error {
	if err := i.core.misused(); err != nil {
		return err
	}
	if i.IsStopped() {
		return fmt.Errorf("indexers were not added to informer %s: %w", i.core.options.Name, ErrStopped)
	}
	return newClientgoStore(i.core).AddIndexers(ix)
}

// as returns obj as a T, or an error that names both types.
func as[T any](obj any) (T, error) {
	t, ok := obj.(T)
	if !ok {
		if _, anything := any(&t).(*any); anything {
			return t, nil // a nil, in an informer of anything
		}
		return t, typeError[T](obj)
	}
	return t, nil
}

// clientgoController is what GetController returns: it answers, and does not
// run anything.
type clientgoController[T any] struct{ informer *clientgoInformer[T] }

func (clientgoController[T]) Run(<-chan struct{})            {}
func (clientgoController[T]) RunWithContext(context.Context) {}
func (c clientgoController[T]) HasSynced() bool              { return c.informer.HasSynced() }
func (c clientgoController[T]) LastSyncResourceVersion() string {
	return c.informer.LastSyncResourceVersion()
}
func (c clientgoController[T]) HasSyncedChecker() cache.DoneChecker {
	return c.informer.HasSyncedChecker()
}

// clientgoChecker is client-go's DoneChecker.
type clientgoChecker struct {
	name string
	done <-chan struct{}
}

func (c clientgoChecker) Name() string          { return c.name }
func (c clientgoChecker) Done() <-chan struct{} { return c.done }
