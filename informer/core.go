package informer

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/goexit"
	"github.com/tidemark-k8s/tidemark/lister"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// core is the informer under all of its views: the store, the queue before it, the
// processor behind it, and the goroutines that move changes along.
//
//	reflector, one a source  ->  queue  ->  processLoop  ->  log  ->  one goroutine a handler
//
// Lock order: mu, then the indexer's write section, then sharedProcessor.mu.
type core struct {
	options   Options[any]
	objects   objectType
	sources   []reflector.Source
	misuse    error // what was wrong with the constructor's arguments
	writer    *indexer.Writer
	queue     *deltafifo.Queue
	processor *sharedProcessor
	status    status
	versions  versionWaiters
	hooks     hooks
	lister    lister.Lister[any]
	logger    func(Event)
	synced    chan struct{} // closed once every part has committed a full state
	halted    atomic.Bool   // the run is ending: handlers are told nothing more
	disguised atomic.Bool   // the transform has changed a UID or version
	sharing   sharing

	// The processLoop's own.
	parts     []part
	committed int // how many of the parts have committed a full state
	poisoned  int // how many objects of all parts could not be prepared
	reached   reached
	batch     []deltafifo.Delta // taken out of the queue, and still to be applied
	changes   []deltafifo.Delta // those of the present write section
	applied   int               // how many of these are made
	aside     asides

	// mu guards the life of the informer and of its registrations' goroutines.
	mu      sync.Mutex
	phase   phase
	stopped chan struct{} // closed when the run ends; another one for each run
	run     *run          // the present one, or else the last; nil before the first
}

// run is one run of an informer. Runs are told apart by their pointers: a user's
// context may be of a type that cannot be compared.
type run struct {
	ctx      context.Context // that it lasts for
	handlers sync.WaitGroup  // the handlers' goroutines
}

// phase is where an informer is in its life.
type phase uint8

const (
	created phase = iota
	running
	stopped
)

// newCore makes a core of objects of a type. It has these indexes, whatever the
// options say.
func newCore(o Options[any], objects objectType, indexes []indexer.Index[any], sources ...reflector.Source) *core {
	c := &core{
		options:   o,
		objects:   objects,
		sources:   sources,
		queue:     deltafifo.New(0),
		processor: newSharedProcessor(),
		synced:    make(chan struct{}),
		stopped:   make(chan struct{}),
		status:    status{parts: make([]partStatus, len(sources))},
		parts:     make([]part, len(sources)),
		reached:   newReached(len(sources)),
	}
	c.sharing = newSharing(o.Decoding)
	if c.options.Name == "" {
		c.options.Name = objects.name()
	}
	c.logger = LogEvents(klog.Background(), c.options.Name)
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
	c.lister = lister.New(c.writer.Indexer(), o.Resource)
	return c
}

func (c *core) newStore(indexes []indexer.Index[any]) (*indexer.Writer, error) {
	return indexer.New(indexer.Options{
		Indexes: indexes, LabelIndexes: c.options.LabelIndexes,
		Labels:    labelsOf[any],
		Namespace: namespaceOf[any],
		Report:    func(e *indexer.IndexError) { c.observe(e) },
	})
}

// observe passes an event on: to the user's observer, to the hook, or else to the
// log. The observer is called on a goroutine of its own, which it may end.
func (c *core) observe(e Event) {
	if c.options.Observe != nil {
		goexit.Apart(func() { c.options.Observe(e) })
	}
	told := c.hooks.report != nil && c.hooks.report(e)
	if !told && c.options.Observe == nil {
		c.logger(e)
	}
}

// misused returns what was wrong with the constructor's arguments, if anything.
func (c *core) misused() error {
	if c.misuse == nil {
		return nil
	}
	return fmt.Errorf("informer %s: %w", c.options.Name, c.misuse)
}

// begin lets the informer run: once, or again after it has stopped, from what
// it has and with the handlers that it has.
func (c *core) begin(ctx context.Context, again bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()

	switch {
	case c.misuse != nil:
		return c.misused()
	case c.phase == running:
		return fmt.Errorf("informer %s: %w", c.options.Name, ErrRunning)
	case c.phase == stopped && !again:
		return fmt.Errorf("informer %s: %w", c.options.Name, ErrStopped)
	case c.phase == stopped:
		c.stopped, c.queue, c.batch = make(chan struct{}), deltafifo.New(0), nil
	}
	c.phase, c.run = running, &run{ctx: ctx}
	c.halted.Store(false)
	for _, r := range c.processor.all() {
		c.launch(r)
	}
	return nil
}

// Run is [Informer.Run].
func (c *core) Run(ctx context.Context) error {
	if err := c.begin(ctx, false); err != nil {
		return err
	}
	read, ended := c.move(ctx)
	if c.options.Transform == nil {
		read() // calls no function of a user's, which might end this goroutine
	} else {
		go read()
	}
	<-ended
	return nil
}

// Start is [Informer.Start].
func (c *core) Start(ctx context.Context) (wait func(), err error) {
	if err := c.begin(ctx, true); err != nil {
		return nil, err
	}
	read, ended := c.move(ctx)
	go read()
	return func() { <-ended }, nil
}

// move moves changes along until ctx ends. The caller has to call read, which
// reads the first source meanwhile; ended is closed when nothing moves any more.
func (c *core) move(ctx context.Context) (read func(), ended <-chan struct{}) {
	readers := make([]func(), len(c.sources))
	for i, source := range c.sources {
		version := c.resume(uint16(i)) //nolint:gosec // at most maxSources
		readers[i] = func() { c.reflect(ctx, i, source, version) }
	}
	over, tellEnd := make(chan struct{}), func() {}
	if c.hooks.started != nil {
		tellEnd = c.hooks.started()
	}
	var reflectors sync.WaitGroup
	reflectors.Add(1)
	if c.sharing.watched {
		reflectors.Go(func() { c.sharing.guard(ctx, func(err error) { c.observe(err) }) })
	}
	for _, read := range readers[1:] {
		reflectors.Go(read)
	}
	go goexit.Outlive(func() {
		c.processLoop(ctx)
		c.halted.Store(true)
		reflectors.Wait()
		c.finish().Wait()
		tellEnd()
		close(over)
	})
	return func() {
		defer reflectors.Done()
		readers[0]()
	}, over
}

// reflector makes what mirrors one source into the queue.
func (c *core) reflector(i int, source reflector.Source, sink *intake, version string) *reflector.Reflector {
	return reflector.New(source, sink, reflector.Options{
		Name:            c.options.Name,
		Type:            c.objects.watched(),
		Check:           c.fits(),
		Expect:          c.objects.kind,
		PageSize:        c.options.PageSize,
		MinWatchTimeout: c.options.MinWatchTimeout,
		Version:         version,
		Rand:            c.options.Rand,
		Decoding:        c.options.Decoding,
		Observe:         func(e reflector.Event) { c.reflected(i, e) },
	})
}

// fits returns what refuses objects that were decoded, nil where all will do.
func (c *core) fits() func(runtime.Object) error {
	if c.objects.check == nil {
		return nil
	}
	return func(obj runtime.Object) error { return c.objects.check(obj) }
}

// reflected takes note of an event of the reflector of part i, and passes it on.
func (c *core) reflected(i int, e reflector.Event) {
	c.status.reflected(i, e)
	if u, ok := e.(reflector.Undecodable); ok {
		c.observe(&QuarantineError{Key: u.Key, Err: fmt.Errorf("%w: %w", ErrDecode, u.Err)})
		return
	}
	c.observe(e)
}

// reflect mirrors one source from a version on, until ctx ends. It begins anew, with all objects
// decoded afresh, once somebody has written into a value that objects share.
func (c *core) reflect(ctx context.Context, i int, source reflector.Source, version string) {
	sink := &intake{core: c, part: uint16(i)} //nolint:gosec // at most maxSources
	once := func() error {
		run, end := c.sharing.until(ctx)
		defer end()
		r := c.reflector(i, source, sink, version)
		defer func() { // also where the transform has ended the goroutine
			version = r.Version()
			sink.afresh.Store(true) // where ctx has not ended
		}()
		return r.Run(run)
	}
	goexit.Outlive(func() {
		for ctx.Err() == nil {
			if err := once(); err != nil {
				c.observe(reflector.Failed{Operation: reflector.OpList, Err: err})
				return
			}
		}
	})
}

// finish marks the end of a run, and returns what its handlers' goroutines are
// waited for with: they end by themselves, with ctx.
func (c *core) finish() *sync.WaitGroup {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.phase = stopped
	close(c.stopped)
	c.queue.Close()
	for _, r := range c.processor.all() {
		if !r.running {
			c.over(r)
		}
	}
	return &c.run.handlers
}

// WaitSynced is [Informer.WaitSynced].
func (c *core) WaitSynced(ctx context.Context) error {
	if c.misuse != nil {
		return c.misused()
	}
	select {
	case <-c.synced:
		return nil
	default:
	}
	select {
	case <-c.synced:
		return nil
	case <-c.done():
		if ctx.Err() == nil {
			return c.status.because(fmt.Errorf("informer %s: %w", c.options.Name, ErrStopped))
		}
	case <-ctx.Done():
	}
	return c.status.because(fmt.Errorf("informer %s: %w: %w", c.options.Name, ErrNotSynced, context.Cause(ctx)))
}

func (c *core) setTransform(transform func(any) (any, error)) error {
	c.mu.Lock()
	defer c.mu.Unlock()

	switch {
	case c.misuse != nil:
		return c.misused()
	case c.phase == running:
		return fmt.Errorf("informer %s: the transform is set before Run: %w", c.options.Name, ErrRunning)
	case c.phase == stopped:
		return fmt.Errorf("informer %s: %w", c.options.Name, ErrStopped)
	}
	c.options.Transform = transform
	return nil
}

// join registers a handler.
func (c *core) join(r *registration) error {
	c.mu.Lock()
	defer c.mu.Unlock()

	switch {
	case c.misuse != nil:
		return c.misused()
	case c.phase == stopped:
		// In client-go's words, which programs look for.
		return fmt.Errorf("informer %s: %w: handler %q was not added to shared informer because it has stopped already", c.options.Name, ErrStopped, r.options.Name)
	}
	c.writer.Freeze(func(tx *indexer.Tx) {
		if c.processor.began {
			r.begin(tx.Snapshot(), c.processor.log.published)
		}
		c.processor.add(r)
	})
	if c.phase == running {
		c.launch(r)
	}
	return nil
}

// leave unregisters a registration that was stopped, at once: its handler may be
// stuck, and its goroutine yet to end.
func (c *core) leave(r *registration) {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.processor.remove(r)
	if !r.running {
		c.over(r)
	}
}

// runContext is the context of the run, or an idle one.
func (c *core) runContext() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.run == nil {
		return context.Background()
	}
	return c.run.ctx
}

// launch starts a registration's goroutine; where that of the run before is
// still busy, with its end. The caller holds mu.
func (c *core) launch(r *registration) {
	if closed(r.done) {
		r.done = make(chan struct{})
	}
	if r.running {
		return
	}
	r.running = true
	run := c.run
	run.handlers.Go(func() {
		defer c.landed(r, run)
		r.run(run.ctx)
	})
}

// landed is called when a registration's goroutine ends, with the run that
// started it.
func (c *core) landed(r *registration, run *run) {
	c.mu.Lock()
	defer c.mu.Unlock()

	r.running = false
	if run.ctx.Err() == nil { // stopped, or the handler has ended the goroutine
		r.ended.Store(true)
	}
	switch {
	case c.phase == stopped || r.ended.Load():
		c.over(r)
	case c.run != run: // another run has begun meanwhile
		c.launch(r)
	}
}

// done returns a channel that is closed when the informer has stopped.
func (c *core) done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.stopped
}

// over says that a registration delivers nothing any more: it has no goroutine. One
// that was stopped is forgotten. The caller holds mu.
func (c *core) over(r *registration) {
	if r.ended.Load() {
		c.processor.remove(r)
		r.then = event{}
	}
	if !closed(r.done) {
		close(r.done)
	}
}
