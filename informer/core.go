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

// core is the informer under all of its views: the store, the queue before it, the
// processor behind it, and the goroutines that move changes along.
//
//	reflector, one a source  ->  queue  ->  processLoop  ->  log  ->  one goroutine a handler
//
// Lock order: the indexer's write section, then mu, then sharedProcessor.mu.
type core struct {
	options   Options[any]
	objects   objectType
	sources   []reflector.Source
	misuse    error // what was wrong with the constructor's arguments
	writer    *indexer.Writer
	processor *sharedProcessor
	status    status
	versions  versionWaiters
	arrivals  arrivals
	// quarantined is what all parts have quarantined, for those who wait for a version.
	quarantined      quarantined
	tally            tally
	measures         atomic.Pointer[measures] // nil as long as nobody has inspected the informer
	hooks            hooks
	lister           lister.Lister[any]
	observerTurn     chan struct{} // holds one while the user's observer is called; nil without one
	logger           lazyLogger
	ownLogger        *klog.Logger  // that the constructor was given; nil for that of each run's context
	synced           chan struct{} // closed once the store holds all of every source
	rewritesIdentity atomic.Bool   // the transform has changed a UID or version
	rewritesKeys     atomic.Bool   // the transform has changed a key
	sharing          sharing
	decodeTimes      reflector.DecodeTimes
	// followed says of each source whether its last run ended in the midst of a watch that
	// nothing put in doubt, byHand whether a user has written into the store.
	followed      []atomic.Bool
	writtenByHand atomic.Bool

	// The processLoop's own.
	parts              []part
	completed          int // of how many of the parts the store holds all
	quarantinedObjects int // how many objects of all parts could not be prepared
	reached            *reached
	batch              []deltafifo.Delta // taken out of the queue, and still to be applied
	changes            []deltafifo.Delta // those of the present write section
	applied            int               // how many of these are made
	bookmarked         []uint16          // the parts of which bookmarks are among them
	serverIDs          serverIdentities

	// mu guards the life of the informer.
	mu          sync.Mutex
	phase       phase
	restartable bool // it was begun by Start, and may be begun again
	run         *run // the present one, or else the last; the first one before it begins
}

// newCore makes a core of objects of a type. It has these indexes, whatever the
// options say.
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
		c.observerTurn = make(chan struct{}, 1)
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

// observe passes an event on: to the user's observer, to the hook, or else to the
// log. The observer is called for one event at a time, on a goroutine of its own,
// which it may end.
func (c *core) observe(e Event) {
	if c.options.Observe != nil {
		c.observerTurn <- struct{}{}
		goexit.Apart(func() { c.options.Observe(e) })
		<-c.observerTurn
	}
	told := c.hooks.report != nil && c.hooks.report(e)
	if !told && c.options.Observe == nil {
		c.logger.log(e, c.options.Name)
	}
}

// logTo sets the context by which events are logged that nobody else is told. A logger
// that the constructor was given counts before the context's.
func (c *core) logTo(ctx context.Context) {
	if c.ownLogger != nil {
		ctx = klog.NewContext(ctx, *c.ownLogger)
	}
	c.logger.use(ctx)
}

// misused returns what was wrong with the constructor's arguments, if anything.
func (c *core) misused() error {
	if c.misuse == nil {
		return nil
	}
	return fmt.Errorf("informer %s: %w", c.options.Name, c.misuse)
}
