package engine

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/delivery"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
	"github.com/tidemark-k8s/tidemark/internal/keeper"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/share"
	"github.com/tidemark-k8s/tidemark/lister"
)

// Core is what all views of an informer share: the queue, the store, the processor, and the goroutines that
// move changes from the sources to the handlers.
//
//	one reflector per source  ->  queue  ->  processLoop  ->  log  ->  one goroutine per handler
//
// Lock order: the indexer's write section, then mu, then the locks of delivery.
type Core struct {
	applier

	objects      ObjectType
	values       *share.Table // the values that objects share; nil if they share none
	sources      []*Source
	drops        []string // fields dropped in place of a transform, fixed when the informer starts
	misuse       error    // the error in the constructor's arguments; nil if they are valid
	lister       lister.Lister[any]
	observerTurn chan struct{} // full while the observer is called; nil without an observer
	logger       lazyLogger
	packing      *packing     // nil if the store holds the objects themselves
	detector     *detector    // nil if writes into stored objects are not detected
	ownLogger    *klog.Logger // from the constructor; nil for the logger of Run's context
	decodeTimes  decodeTimes
	reflectors   []atomic.Pointer[keeper.Reflector] // by source; nil before the reflector is made
	newest       newest

	mu       sync.Mutex // guards phase, and the start of run
	phase    phase
	run      delivery.Run       // its context is set when the informer starts
	cancel   context.CancelFunc // ends the context of run
	exited   atomic.Pointer[error]
	queue    *deltafifo.DeltaFIFO
	stopped  chan struct{} // closed when the informer has stopped; handlers may still be busy
	returned chan struct{} // closed when Run returns
}

// New returns the core of an informer. Run and the waits return errors in the arguments.
func New(o Options, objects ObjectType, sources []*Source) *Core {
	c := &Core{
		applier: applier{
			options: o,
			log:     eventlog.New(),
			status:  status{watchLasts: keeper.LongestWatch(o.MinWatchTimeout), bySource: make([]sourceStatus, len(sources)), applied: make([]atomic.Uint64, len(sources))},
			synced:  make(chan struct{}),
			states:  make([]sourceState, len(sources)),
			written: written{bySource: make([]writtenSource, len(sources))},
			reached: newReached(len(sources)),
		},
		objects:    objects,
		values:     newValues(o),
		sources:    sources,
		reflectors: make([]atomic.Pointer[keeper.Reflector], len(sources)),
		run:        delivery.Run{Context: context.Background()},
		stopped:    make(chan struct{}),
		returned:   make(chan struct{}),
		queue:      deltafifo.New(),
	}
	c.run.Exit, c.report = c.exit, c.observe
	if c.options.Name == "" {
		c.options.Name = objects.name()
	}
	c.logTo(context.Background())
	if o.Observe != nil {
		c.observerTurn = make(chan struct{}, 1)
	}
	c.misuse = c.options.Validate()
	switch {
	case missing(sources):
		c.misuse = ErrNoSource
	case c.misuse == nil && o.Shard != nil && len(sources) > 1:
		c.misuse = fmt.Errorf("%w: it has %d sources", ErrSharded, len(sources))
	case len(sources) > maxSources:
		c.misuse = fmt.Errorf("the informer has %d sources, more than %d", len(sources), maxSources)
	}
	c.detector = newDetector(c.options.Name)
	c.packing = newPacking(o.Storage, objects, c.detector, c.observe)
	var err error
	if c.writer, err = c.newStore(o.Indexes); err != nil {
		c.misuse = err
		c.writer, _ = c.newStore(nil)
	}
	c.processor = delivery.New(c.options.Name, c.writer, c.log, func(handler string, value any) { c.observe(HandlerPanicked{handler, value}) })
	c.lister = lister.New(c.writer.Indexer(), c.resource())
	return c
}

// resource returns the resource that the lister names: that of the options, or else that of the source if it
// is known.
func (c *Core) resource() schema.GroupResource {
	if c.options.Resource.Empty() && len(c.sources) > 0 {
		return c.sources[0].made.Resource.GroupResource()
	}
	return c.options.Resource
}

func (c *Core) newStore(indexes []indexer.Index[any]) (*indexer.Writer, error) {
	o := indexer.Options{
		Indexes: indexes, LabelIndexes: c.options.LabelIndexes,
		Labels:    object.Labels,
		Namespace: object.Namespace,
		Report:    func(e *indexer.IndexError) { c.observe(e) },
	}
	if c.packing != nil {
		o.Codec = c.packing
	}
	return indexer.New(o)
}

// observe passes an event to the observer and to the hook. Without an observer, it logs an event that the
// hook does not handle. Each of them may end the goroutine.
func (c *Core) observe(e Event) {
	if c.options.Observe != nil {
		c.callObserver(e)
	}
	handled := c.hooks.report != nil && c.hooks.report(e)
	if !handled && c.options.Observe == nil {
		c.logger.log(e)
	}
}

// callObserver calls the observer, for one event at a time.
func (c *Core) callObserver(e Event) {
	c.observerTurn <- struct{}{}
	defer func() { <-c.observerTurn }()
	c.options.Observe(e)
}

// logTo sets the context whose logger gets events if there is no observer. A logger from the constructor
// takes precedence.
func (c *Core) logTo(ctx context.Context) {
	if c.ownLogger != nil {
		ctx = klog.NewContext(ctx, *c.ownLogger)
	}
	c.logger.use(ctx, c.options.Name)
}

// Misused returns an error if the constructor's arguments were invalid.
func (c *Core) Misused() error {
	if c.misuse == nil {
		return nil
	}
	return fmt.Errorf("informer %s: %w", c.options.Name, c.misuse)
}
