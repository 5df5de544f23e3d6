package informer

import (
	"context"
	"fmt"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/informer/internal/delivery"
	"github.com/tidemark-k8s/tidemark/informer/internal/engine"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// ForOneHandler makes an informer with a single handler, as client-go's NewInformerWithOptions does. The
// constructors of package informer/cache call it. The handler has its own goroutine. Run logs misuse, such as
// a nil handler.
func ForOneHandler(o cache.InformerOptions) (cache.Indexer, cache.Controller) {
	i := sharedOf(o.ListerWatcher, o.ObjectType, clientgoSettings{
		options: engine.Options{Resync: o.ResyncPeriod, MinWatchTimeout: o.MinWatchTimeout, Transform: o.Transform},
		indexes: o.Indexers,
		metrics: newMetrics(o.Identifier, o.InformerMetricsProvider),
		logger:  o.Logger,
	})
	if o.Handler == nil {
		i.core.Misuse(ErrNoHandler)
	}
	to := &unsharedReceiver{clientgoReceiver: &clientgoReceiver{o.Handler, o.Logger}, core: i.core}
	to.failing, to.fail = context.WithCancel(context.Background())
	c := &clientgoUnshared{informer: i, receiver: to}
	var err error
	if c.handler, err = i.register(to, o.ResyncPeriod, nil); err != nil { // Run reports the misuse
		c.handler = &clientgoRegistration{i.core, i.core.NewRegistration(to, engine.HandlerOptions{}, nil)}
	}
	return i.GetIndexer(), c
}

// clientgoUnshared is the Controller of an unshared informer. It runs the informer, and is synced once the
// handler has got the initial state.
type clientgoUnshared struct {
	informer *clientgoInformer
	receiver *unsharedReceiver
	handler  cache.ResourceEventHandlerRegistration
}

var _ cache.Controller = (*clientgoUnshared)(nil)

func (c *clientgoUnshared) Run(stop <-chan struct{}) { c.RunWithContext(wait.ContextForChannel(stop)) }

// RunWithContext panics with the handler's panic if it is to end the process (utilruntime.ReallyCrash), so
// that the caller can recover.
func (c *clientgoUnshared) RunWithContext(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.receiver.failing, cancel)()
	c.informer.RunWithContext(ctx)
	if p := c.receiver.panicked.Load(); p != nil {
		panic(*p)
	}
}

// unsharedReceiver delivers to the only handler of an informer. If the handler panics, the run ends, and
// RunWithContext panics with the same value.
type unsharedReceiver struct {
	*clientgoReceiver
	core     *engine.Core
	crashing context.Context // for the report of a panic
	panicked atomic.Pointer[any]
	failing  context.Context // ends with a panic, and ends each call of Run
	fail     context.CancelFunc
}

func (r *unsharedReceiver) Context(run context.Context) context.Context {
	r.crashing = r.clientgoReceiver.Context(run)
	return r.crashing
}

// CallHandler delivers nothing after a panic.
func (r *unsharedReceiver) CallHandler(b *eventlog.Batch) {
	switch {
	case r.panicked.Load() != nil:
		b.Skip(0)
		return
	case !utilruntime.ReallyCrash: // the registration reports the panic and continues
		r.clientgoReceiver.CallHandler(b)
		return
	}
	defer r.caught()
	defer func() {
		if p := recover(); p != nil {
			delivery.Crash(r.crashing, p, r.core.Name(), r.Name(), b) // which panics again
		}
	}()
	r.clientgoReceiver.CallHandler(b)
}

func (r *unsharedReceiver) caught() {
	if p := recover(); p != nil {
		r.panicked.Store(&p)
		defer r.fail()
		r.core.Observe(HandlerPanicked{Handler: r.Name(), Value: p})
	}
}

func (c *clientgoUnshared) HasSynced() bool { return c.handler.HasSynced() }
func (c *clientgoUnshared) LastSyncResourceVersion() string {
	return c.informer.LastSyncResourceVersion()
}

func (c *clientgoUnshared) HasSyncedChecker() cache.DoneChecker { return c.handler.HasSyncedChecker() }

// clientgoSettings are the arguments of client-go's constructors, apart from the ListerWatcher and the
// example.
type clientgoSettings struct {
	source  reflector.Source // zero for the ListerWatcher
	options engine.Options
	indexes cache.Indexers
	metrics *clientgoMetrics
	logger  *klog.Logger // nil for klog's own
	typed   bool         // the informer holds only objects of the example's Go type
}

// objects returns the informer's object type for an example.
func (s *clientgoSettings) objects(example runtime.Object) engine.ObjectType {
	switch {
	case example == nil:
		return engine.ObjectType{}
	case s.typed:
		return engine.LikeExactly(example)
	}
	return engine.Like(example)
}

// describe returns the name of an informer. It defaults to the type or, for a type that stands for many
// kinds, to the kind.
func describe(name string, example runtime.Object) string {
	if name != "" || example == nil {
		return name
	}
	switch example.(type) {
	case runtime.Unstructured, *metav1.PartialObjectMetadata:
		if kind := example.GetObjectKind().GroupVersionKind(); !kind.Empty() {
			return kind.String()
		}
	}
	return fmt.Sprintf("%T", example)
}
