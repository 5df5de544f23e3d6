package informer

import (
	"context"
	"errors"
	"sync"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// NewController is client-go's New: a reflector that writes into a queue of
// the caller's, such as a [DeltaFIFO], and a loop that pops it and hands what it
// gets to the Config's functions. ProcessBatch is used where the queue is a
// [cache.QueueWithBatch]. What the functions return is logged; a panic of theirs
// comes out of Run, unless utilruntime.ReallyCrash says otherwise.
func NewController(config *cache.Config) cache.Controller {
	name := describe(config.ObjectDescription, config.ObjectType)
	c := &queueController{config: *config, log: logged(klog.Background(), name)}
	c.reflector = newStoreReflector(config.ListerWatcher, config.ObjectType, storeSettings{
		name: name, store: config.Queue, resync: config.FullResyncPeriod, due: config.ShouldResync, observe: c.observe,
	}, reflector.Options{MinWatchTimeout: config.MinWatchTimeout, PageSize: config.WatchListPageSize})
	c.inert = sync.OnceValue(func() *cache.Reflector {
		return cache.NewReflectorWithOptions(config.ListerWatcher, config.ObjectType, config.Queue, cache.ReflectorOptions{Name: name})
	})
	return c
}

// queueController is what NewController returns.
type queueController struct {
	config    cache.Config
	reflector *reflector.Reflector
	inert     func() *cache.Reflector // never run; for the watch error handler
	log       func(Event)

	mu  sync.Mutex
	ctx context.Context // of the run; for the watch error handler
}

var _ cache.Controller = (*queueController)(nil)

func (c *queueController) Run(stop <-chan struct{}) { c.RunWithContext(wait.ContextForChannel(stop)) }

func (c *queueController) RunWithContext(ctx context.Context) {
	if c.config.Queue == nil {
		klog.FromContext(ctx).Error(reflector.ErrNoSink, "The controller does not run")
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	c.setContext(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel() // also where processing panics
	running.Go(func() {
		if err := c.reflector.Run(ctx); err != nil {
			klog.FromContext(ctx).Error(err, "The controller does not run")
			cancel()
		}
	})
	running.Go(func() {
		<-ctx.Done()
		c.config.Close()
	})
	for ctx.Err() == nil && c.processNext(ctx) {
	}
}

// processNext pops once. It returns false when the queue is closed.
func (c *queueController) processNext(ctx context.Context) (more bool) {
	more = true
	defer utilruntime.HandleCrashWithContext(ctx)
	var err error
	if batches, ok := c.config.Queue.(cache.QueueWithBatch); ok && c.config.ProcessBatch != nil {
		err = batches.PopBatch(c.config.ProcessBatch, cache.PopProcessFunc(c.config.Process))
	} else {
		_, err = c.config.Pop(cache.PopProcessFunc(c.config.Process))
	}
	switch {
	case errors.Is(err, cache.ErrFIFOClosed):
		return false
	case err != nil:
		klog.FromContext(ctx).Error(err, "Processing failed")
	}
	return true
}

// observe passes errors to the watch error handler, and all else to the log.
func (c *queueController) observe(e Event) {
	failed, ok := e.(reflector.Failed)
	switch {
	case ok && c.config.WatchErrorHandler != nil:
		c.config.WatchErrorHandler(c.inert(), failed.Err)
	case ok && c.config.WatchErrorHandlerWithContext != nil:
		c.config.WatchErrorHandlerWithContext(c.context(), c.inert(), failed.Err)
	default:
		c.log(e)
	}
}

func (c *queueController) setContext(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.ctx = ctx
}

func (c *queueController) context() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.ctx
}

func (c *queueController) HasSynced() bool                     { return c.config.HasSynced() }
func (c *queueController) HasSyncedChecker() cache.DoneChecker { return c.config.HasSyncedChecker() }
func (c *queueController) LastSyncResourceVersion() string     { return c.reflector.Version() }
