package informer

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
	"github.com/tidemark-k8s/tidemark/informer/internal/measure"
)

// burst is the number of events a handler takes out of its feed at once.
const burst = 64

// sharedProcessor delivers the log to the registrations. Publishing costs the same for any number
// of handlers, apart from waking sleeping ones.
//
// Lock order: the store's write section, then mu, then a feed's mu.
type sharedProcessor struct {
	informer string // for messages
	store    *indexer.Writer
	observe  func(Event)
	log      *eventlog.Log
	// syncedAt is the position of the log at which the store was complete, MaxUint64 before that.
	syncedAt atomic.Uint64
	// clock times the handlers' calls; nil until somebody inspects the informer.
	clock atomic.Pointer[measure.Clock]
	// feedsStarted is set by the first commit. It is written and read in write sections.
	feedsStarted bool
	batches      sync.Pool // empty batches; a sleeping registration holds none

	mu            sync.Mutex
	run           *run // the present run, or nil
	ran           bool // a run has started
	registrations []*registration
	count         atomic.Int32 // len(registrations); written under mu
	asleep        atomic.Int32 // number of parked registrations; written under mu
	merging       int          // number of registrations whose pending changes are merged
	bounded       atomic.Int32 // number of registrations with a bound on the backlog; written under mu
}

func newSharedProcessor(informer string, store *indexer.Writer, observe func(Event)) *sharedProcessor {
	p := &sharedProcessor{informer: informer, store: store, observe: observe, log: eventlog.New()}
	p.batches.New = func() any { return eventlog.NewBatch(burst) }
	p.syncedAt.Store(math.MaxUint64)
	return p
}

// newFeed returns the feed of a handler that takes up to atOnce events a call.
func (p *sharedProcessor) newFeed(d Delivery, atOnce int) feed {
	most := burst
	if atOnce > 1 {
		most = atOnce
	}
	if d.merges() {
		return &latestFeed{feedBase: feedBase{log: p.log, burst: most}, most: atOnce, stored: p.stored}
	}
	return &everyFeed{feedBase: feedBase{log: p.log, burst: most}}
}

// stored reports whether an object is the one stored under a key.
func (p *sharedProcessor) stored(key indexer.Key, obj any) bool {
	now, ok := p.store.Stored(key)
	return ok && sameValue(now, obj)
}

// batch returns an empty batch.
func (p *sharedProcessor) batch() *eventlog.Batch { return p.batches.Get().(*eventlog.Batch) }

// recycle takes an empty batch back, unless it has grown beyond a burst.
func (p *sharedProcessor) recycle(b *eventlog.Batch) {
	if b.Room() <= burst {
		p.batches.Put(b)
	}
}

// publish makes the appended events visible to the handlers. The caller is in a write section.
func (p *sharedProcessor) publish() {
	filled := p.log.Publish()
	if p.count.Load() == 0 {
		p.log.Discard()
	}
	if p.asleep.Load() > 0 {
		p.wakeAll()
	}
	if filled {
		p.mergeBehind()
	}
}

// mergeBehind merges the pending events of the handlers that lag too far, where the delivery merges.
func (p *sharedProcessor) mergeBehind() {
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.merging == 0 {
		return
	}
	for _, r := range p.registrations {
		if f, ok := r.feed.(*latestFeed); ok {
			f.mergeBehind()
		}
	}
}

// startFeeds gives every registration the initial state to replay, and a place in the log to follow
// from. It is called in the write section of the first commit or, if a user has filled the store,
// just before.
func (p *sharedProcessor) startFeeds(initial indexer.Snapshot[any]) {
	p.feedsStarted = true
	p.mu.Lock()
	for _, r := range p.registrations {
		r.feed.start(initial, p.log.Published())
	}
	p.mu.Unlock()
	p.wakeAll()
}

// markSynced records the log's end as the position of the complete store. The caller is in a write
// section.
func (p *sharedProcessor) markSynced() {
	p.syncedAt.Store(p.log.End())
	p.wakeAll()
}

// resync starts to deliver the store's present objects to a handler again.
func (p *sharedProcessor) resync(r *registration) {
	p.store.Freeze(func(tx *indexer.Tx) { r.feed.resync(tx.Snapshot(), p.log.Published()) })
}

// start starts the goroutines of all registrations for a run.
func (p *sharedProcessor) start(run *run) {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.run, p.ran = run, true
	for _, r := range p.registrations {
		p.launch(r)
	}
}

// finish marks the end of the run. The goroutines of registrations end by themselves, with the
// run's context.
func (p *sharedProcessor) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.run = nil
	for _, r := range p.registrations {
		if r.life == kept {
			p.closeDone(r)
		}
	}
}

// add adds a registration, between two write sections. If a full state was committed before, the
// registration starts with the store's objects.
func (p *sharedProcessor) add(tx *indexer.Tx, r *registration) {
	if p.feedsStarted {
		r.feed.start(tx.Snapshot(), p.log.Published())
	}
	p.mu.Lock()
	defer p.mu.Unlock()

	p.registrations = append(p.registrations, r)
	p.count.Add(1)
	if r.options.Delivery.merges() {
		p.merging++
	}
	if r.options.MaxBacklog > 0 {
		p.bounded.Add(1)
	}
	switch {
	case p.run != nil:
		p.launch(r)
	case p.ran:
		r.life = kept
		p.closeDone(r)
	}
}

// launch starts a registration's goroutine. If the goroutine of the previous run is still busy,
// returned launches the registration later. The caller holds mu.
func (p *sharedProcessor) launch(r *registration) {
	switch r.life {
	case delivering:
		return
	case kept:
		if closed(r.done) {
			r.done = make(chan struct{})
		}
	}
	r.life = delivering
	run := p.run
	if r.runs != nil { // never blocks: the loop takes one run at a time
		run.handlers.Add(1)
		r.runs <- run
		return
	}
	run.handlers.Go(func() {
		defer p.returned(r, run)
		r.work(run)
	})
}

// returned is called when a registration's goroutine ends; run is the run it delivered for.
func (p *sharedProcessor) returned(r *registration, run *run) {
	p.mu.Lock()
	defer p.mu.Unlock()

	switch {
	case r.life == stopping:
		r.life = gone
		p.closeDone(r)
	case p.run == nil:
		r.life = kept
		p.closeDone(r)
	case p.run != run: // another run has begun meanwhile
		r.life = kept
		p.launch(r)
	default: // finish is about to be called
		r.life = kept
	}
}

// closeDone closes done: the registration delivers nothing more. The caller holds mu.
func (p *sharedProcessor) closeDone(r *registration) {
	if !closed(r.done) {
		close(r.done)
	}
}

// exited is called when a user's function has ended the goroutine of a registration: the handler, which
// ends the registration, or the observer, which ends the run.
func (p *sharedProcessor) exited(r *registration, run *run) {
	if r.observing {
		r.observing = false
		run.exit(nil)
		return
	}
	p.stop(r, fmt.Errorf("handler %q of informer %s: %w", r.options.Name, p.informer, ErrExited))
	run.within(func() { p.observe(HandlerExited{Handler: r.options.Name}) })
}

// stop ends a registration without waiting for its goroutine, since the handler may be stuck. err is
// nil, or the reason. A second call does nothing.
func (p *sharedProcessor) stop(r *registration, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()

	switch r.life {
	case stopping, gone:
		return
	case delivering:
		r.life = stopping
	case idle, kept:
		r.life = gone
		p.closeDone(r)
	}
	r.err = err
	close(r.stopCalled)
	r.feed.close() // first: without handlers the publisher clears the events read
	r.taken.Store(nil)
	p.remove(r)
}

// remove drops a registration. The caller holds mu.
func (p *sharedProcessor) remove(r *registration) {
	i := slices.Index(p.registrations, r)
	if i < 0 { // the registration was refused
		return
	}
	p.registrations = slices.Delete(p.registrations, i, i+1)
	p.count.Add(-1)
	if r.options.Delivery.merges() {
		p.merging--
	}
	if r.options.MaxBacklog > 0 {
		p.bounded.Add(-1)
	}
	p.markAwake(r)
}

// done returns the channel that is closed when a registration delivers nothing more.
func (p *sharedProcessor) done(r *registration) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()

	return r.done
}

// reportOverBound reports each handler whose backlog has grown above its bound, once until the handler
// has caught up.
func (p *sharedProcessor) reportOverBound() {
	if p.bounded.Load() == 0 {
		return
	}
	for _, r := range p.all() {
		bound := r.options.MaxBacklog
		if bound == 0 {
			continue
		}
		if backlog, initial := r.feed.pending(); backlog-initial > bound && p.markOverBound(r) {
			p.observe(HandlerLagging{Handler: r.options.Name, Backlog: backlog})
		}
	}
}

// markOverBound marks a registration as over its bound. It returns false if it is marked already, or has caught up
// meanwhile.
func (p *sharedProcessor) markOverBound(r *registration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()

	if r.overBound || r.parking.state == parked {
		return false
	}
	r.overBound = true
	return true
}

// status returns the state of each handler.
func (p *sharedProcessor) status() (handlers []HandlerStatus) {
	p.mu.Lock()
	defer p.mu.Unlock()

	for _, r := range p.registrations {
		handlers = append(handlers, HandlerStatus{
			Name: r.options.Name, Synced: closed(r.synced), Backlog: r.Backlog(),
			Lagging: r.overBound, Failures: int(r.failures.Load()), Told: r.feed.total(),
		})
	}
	return handlers
}

// calls returns the measurements of a handler's calls.
func (p *sharedProcessor) calls(r *registration) measure.Calls {
	p.mu.Lock()
	defer p.mu.Unlock()

	switch w := r.timing.Load(); {
	case w != nil:
		return w.Read()
	case r.delivers():
		return p.clock.Load().SinceBefore()
	}
	return measure.Calls{}
}

// eventBytes is the size of an event in the log.
const eventBytes = 34

// bytes estimates the size of the undelivered events, without their objects.
func (p *sharedProcessor) bytes() int64 {
	most := 0
	for _, r := range p.all() {
		events, initial := r.feed.pending()
		most = max(most, events-initial) // the initial state is the store's own
	}
	return int64(most) * eventBytes
}

// all returns a copy of the list of registrations.
func (p *sharedProcessor) all() []*registration {
	p.mu.Lock()
	defer p.mu.Unlock()

	return slices.Clone(p.registrations)
}
