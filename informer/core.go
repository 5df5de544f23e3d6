package informer

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/encoding"
	"github.com/tidemark-k8s/tidemark/internal/goexit"
	"github.com/tidemark-k8s/tidemark/lister"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// core is the informer under all of its views: the queue, the store, the processor, and the
// goroutines that move changes along.
//
//	reflector, one a source  ->  queue  ->  processLoop  ->  log  ->  one goroutine a handler
//
// Lock order: the indexer's write section, then mu, then sharedProcessor.mu.
type core struct {
	options   Options[any]
	objects   objectType
	sources   []reflector.Source
	misuse    error // the error in the constructor's arguments, nil for none
	writer    *indexer.Writer
	processor *sharedProcessor
	status    status
	versions  versionWaiters
	arrivals  arrivals
	// quarantined holds the quarantined objects of all sources, for callers that wait for a
	// version.
	quarantined      quarantined
	tally            tally
	measures         atomic.Pointer[measures] // nil until somebody inspects the informer
	hooks            hooks
	lister           lister.Lister[any]
	observing        chan struct{} // holds one while the user's observer is called; nil without one
	logger           lazyLogger
	ownLogger        *klog.Logger  // the constructor's logger; nil to use the logger of each run's context
	synced           chan struct{} // closed once the store holds all objects of every source
	rewritesIdentity atomic.Bool   // the transform has changed a UID or version
	renames          atomic.Bool   // the transform has changed a key
	sharing          sharing
	decodeTimes      reflector.DecodeTimes
	// followed says, for each source, whether its last run ended in the middle of a trusted watch.
	// writtenByHand says whether a user has written into the store.
	followed      []atomic.Bool
	writtenByHand atomic.Bool

	// Owned by the processLoop.
	parts            []part
	completed        int // number of parts with complete content in the store
	quarantinedCount int // number of quarantined objects of all parts
	reached          *reached
	batch            []deltafifo.Delta // taken out of the queue, still to be applied
	changes          []deltafifo.Delta // the deltas of the present write section
	applied          int               // number of changes made in this section
	marked           []uint16          // parts with a bookmark among changes
	serverIdentities serverIdentities

	// mu guards the life of the informer.
	mu    sync.Mutex
	phase phase
	again bool // Start began the informer, so it may be begun again
	run   *run // the present run, or the last; before the first run, the one to begin
}

// newCore makes a core for one object type. It uses the given indexes instead of those in the
// options.
func newCore(o Options[any], objects objectType, indexes []indexer.Index[any], sources ...reflector.Source) *core {
	c := &core{
		options: o,
		objects: objects,
		sources: sources,
		synced:  make(chan struct{}),
		run:     newRun(),
		status:  status{watchLasts: reflector.LongestWatch(o.MinWatchTimeout), parts: make([]partStatus, len(sources))},
		parts:   make([]part, len(sources)),

		followed: make([]atomic.Bool, len(sources)),
		reached:  newReached(len(sources)),
	}
	c.sharing = newSharing(o.Decoding)
	if c.options.Name == "" {
		c.options.Name = objects.name()
	}
	c.logTo(context.Background())
	if o.Observe != nil {
		c.observing = make(chan struct{}, 1)
	}
	c.misuse = c.options.validate()
	switch {
	case len(sources) == 0 || slices.Contains(sources, nil):
		c.misuse = ErrNoSource
	case len(sources) > maxSources:
		c.misuse = ErrTooManySources
	}
	var err error
	if c.writer, err = c.newStore(indexes); err != nil {
		c.misuse = err
		c.writer, _ = c.newStore(nil)
	}
	c.processor = newSharedProcessor(c.options.Name, c.writer, c.observe)
	c.lister = lister.New(c.writer.Indexer(), o.Resource)
	return c
}

func (c *core) newStore(indexes []indexer.Index[any]) (*indexer.Writer, error) {
	return indexer.New(indexer.Options{
		Indexes: indexes, LabelIndexes: c.options.LabelIndexes,
		Labels:    labelsOf[any],
		Namespace: namespaceOf[any],
		Report:    func(e *indexer.IndexError) { c.observe(e) },
		Codec:     encoding.Codec(),
	})
}

// observe passes an event on to the user's observer and the hook, or else to the log. The observer
// is called for one event at a time, on a separate goroutine, and may end that goroutine.
func (c *core) observe(e Event) {
	if c.options.Observe != nil {
		c.observing <- struct{}{}
		goexit.Apart(func() { c.options.Observe(e) })
		<-c.observing
	}
	told := c.hooks.report != nil && c.hooks.report(e)
	if !told && c.options.Observe == nil {
		c.logger.log(e, c.options.Name)
	}
}

// logTo sets the context for logging events that neither observer nor hook takes. The constructor's
// logger, if given, takes precedence over the context's.
func (c *core) logTo(ctx context.Context) {
	if c.ownLogger != nil {
		ctx = klog.NewContext(ctx, *c.ownLogger)
	}
	c.logger.use(ctx)
}

// misused returns the error in the constructor's arguments, or nil.
func (c *core) misused() error {
	if c.misuse == nil {
		return nil
	}
	return fmt.Errorf("informer %s: %w", c.options.Name, c.misuse)
}
