package cache

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// New returns a controller: a reflector that writes into the caller's queue, such as a [DeltaFIFO], and a
// loop that pops from the queue and calls the Config's functions. If the queue is a [QueueWithBatch], the
// loop calls ProcessBatch. Errors of the functions are logged. A panic of a function ends Run with the panic,
// unless utilruntime.ReallyCrash is false. A controller runs once: a second Run logs an error and returns.
func New(config *Config) Controller {
	name := nameOf(config.ObjectType, config.ObjectDescription)
	c := &queueController{config: *config, name: name}
	c.reflector = newStoreReflector(config.ListerWatcher, config.ObjectType, storeSettings{
		name: name, store: config.Queue, resync: config.FullResyncPeriod, due: config.ShouldResync, observe: c.observe, after: time.After,
	}, reflector.Options{MinWatchTimeout: config.MinWatchTimeout, PageSize: config.WatchListPageSize})
	c.inert = sync.OnceValue(func() *Reflector {
		return cache.NewReflectorWithOptions(config.ListerWatcher, config.ObjectType, config.Queue, ReflectorOptions{Name: name})
	})
	return c
}

// queueController implements the Controller of New.
type queueController struct {
	config    Config
	reflector *resyncingReflector
	inert     func() *Reflector // for the watch error handler; never runs
	name      string
	started   atomic.Bool

	mu  sync.Mutex
	ctx context.Context      // of the run; for the watch error handler
	log func(informer.Event) // of the run
}

var _ Controller = (*queueController)(nil)

func (c *queueController) Run(stop <-chan struct{}) { c.RunWithContext(wait.ContextForChannel(stop)) }

func (c *queueController) RunWithContext(ctx context.Context) {
	if c.config.Queue == nil {
		klog.FromContext(ctx).Error(reflector.ErrNoSink, "The controller cannot run")
		return
	}
	if !c.started.CompareAndSwap(false, true) { // the queue is that of the first run
		klog.FromContext(ctx).Error(reflector.ErrStarted, "The controller cannot run")
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	c.setContext(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel() // also if processing panics
	running.Go(func() {
		err := indexer.ErrExited // unless Run returns
		defer func() {
			cancel()
			if err != nil {
				klog.FromContext(ctx).Error(err, "The controller has stopped")
			}
		}()
		err = c.reflector.Run(ctx)
	})
	running.Go(func() {
		<-ctx.Done()
		c.config.Close()
	})
	for ctx.Err() == nil && c.processNext(ctx) {
	}
}

// processNext pops once. It returns false if the queue is closed.
func (c *queueController) processNext(ctx context.Context) (more bool) {
	more = true
	defer utilruntime.HandleCrashWithContext(ctx)
	var err error
	if batches, ok := c.config.Queue.(QueueWithBatch); ok && c.config.ProcessBatch != nil {
		err = batches.PopBatch(c.config.ProcessBatch, PopProcessFunc(c.config.Process))
	} else {
		_, err = c.config.Pop(PopProcessFunc(c.config.Process))
	}
	switch {
	case errors.Is(err, ErrFIFOClosed):
		return false
	case err != nil:
		klog.FromContext(ctx).Error(err, "Processing failed")
	}
	return true
}

// observe passes errors of lists and watches to the watch error handler, and all other events to the log.
func (c *queueController) observe(e informer.Event) {
	failed, ok := e.(reflector.Failed)
	ok = ok && failed.Operation != opResync
	switch {
	case ok && c.config.WatchErrorHandler != nil:
		c.config.WatchErrorHandler(c.inert(), failed.Err)
	case ok && c.config.WatchErrorHandlerWithContext != nil:
		c.config.WatchErrorHandlerWithContext(c.context(), c.inert(), failed.Err)
	default:
		c.logger()(e)
	}
}

func (c *queueController) logger() func(informer.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.log
}

func (c *queueController) setContext(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.ctx, c.log = ctx, informer.LogEvents(ctx, c.name)
}

func (c *queueController) context() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.ctx
}

func (c *queueController) HasSynced() bool                 { return c.config.HasSynced() }
func (c *queueController) HasSyncedChecker() DoneChecker   { return c.config.HasSyncedChecker() }
func (c *queueController) LastSyncResourceVersion() string { return c.reflector.Version() }
