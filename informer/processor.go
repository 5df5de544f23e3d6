package informer

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

// burst is how many events a handler takes out of its feed at once.
const burst = 64

// sharedProcessor fans the log out to the registrations. Publishing costs the
// same for any number of handlers, but for waking those that sleep.
//
// Lock order: the store's write section, then mu, then a feed's mu.
type sharedProcessor struct {
	informer string // for messages
	store    *indexer.Writer
	observe  func(Event)
	log      *eventlog.Log
	// syncedAt is the position at which the store was complete; MaxUint64
	// before that.
	syncedAt atomic.Uint64
	// clock is what the handlers' calls are timed by, nil as long as nobody asks for it.
	clock atomic.Pointer[clock]
	// begun is set with the first commit. Written in write sections, read there.
	begun   bool
	batches sync.Pool // of what is taken: a registration that sleeps has none

	mu            sync.Mutex
	run           *run // the present one, nil where there is none
	ran           bool // there has been one
	registrations []*registration
	count         atomic.Int32 // len(registrations); written under mu
	asleep        atomic.Int32 // how many of them are parked; written under mu
	latest        int          // how many of them have Latest delivery
	bounded       atomic.Int32 // how many of them have a bound on the backlog; written under mu
}

func newSharedProcessor(informer string, store *indexer.Writer, observe func(Event)) *sharedProcessor {
	p := &sharedProcessor{informer: informer, store: store, observe: observe, log: eventlog.New()}
	p.batches.New = func() any { return eventlog.NewBatch(burst) }
	p.syncedAt.Store(math.MaxUint64)
	return p
}

// newFeed returns the feed of a handler that is told so many events at once.
func (p *sharedProcessor) newFeed(d Delivery, atOnce int) feed {
	most := burst
	if atOnce > 1 {
		most = atOnce
	}
	if d == Latest {
		return &latestFeed{feedBase: feedBase{log: p.log, burst: most}, merged: atOnce, stored: p.stored}
	}
	return &everyFeed{feedBase: feedBase{log: p.log, burst: most}}
}

// stored tells whether an object is what is stored under its key.
func (p *sharedProcessor) stored(obj any) bool {
	key, ok := keyOf(obj)
	if !ok {
		return false
	}
	now, ok := p.store.Stored(key)
	return ok && sameValue(now, obj)
}

// batch returns an empty batch.
func (p *sharedProcessor) batch() *eventlog.Batch { return p.batches.Get().(*eventlog.Batch) }

// recycle takes an empty batch back, unless it has grown for a handler of large ones.
func (p *sharedProcessor) recycle(b *eventlog.Batch) {
	if b.Room() <= burst {
		p.batches.Put(b)
	}
}

// publish shows the appended events to the handlers. The caller is in a write
// section.
func (p *sharedProcessor) publish() {
	filled := p.log.Publish()
	if p.count.Load() == 0 {
		p.log.Discard()
	}
	if p.asleep.Load() > 0 {
		p.wakeAll()
	}
	if filled {
		p.mergeLagging()
	}
}

// mergeLagging merges for the handlers with Latest delivery that lag too far.
func (p *sharedProcessor) mergeLagging() {
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.latest == 0 {
		return
	}
	for _, r := range p.registrations {
		if f, ok := r.feed.(*latestFeed); ok {
			f.mergeLagging()
		}
	}
}

// begin gives every registration the initial state to replay; they follow the
// log from here. It is called in the write section of the first commit.
func (p *sharedProcessor) begin(tx *indexer.Tx) {
	p.begun = true
	p.mu.Lock()
	for _, r := range p.registrations {
		r.feed.start(tx.Snapshot(), p.log.Published())
	}
	p.mu.Unlock()
	p.wakeAll()
}

// synced marks the store complete as of here. The caller is in a write section.
func (p *sharedProcessor) synced() {
	p.syncedAt.Store(p.log.End())
	p.wakeAll()
}

// resync lets a handler be told the state of now again.
func (p *sharedProcessor) resync(r *registration) {
	p.store.Freeze(func(tx *indexer.Tx) { r.feed.resync(tx.Snapshot(), p.log.Published()) })
}

// start starts all registrations, for a run.
func (p *sharedProcessor) start(run *run) {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.run, p.ran = run, true
	for _, r := range p.registrations {
		p.launch(r)
	}
}

// finish marks the end of the run. The goroutines of registrations end by themselves,
// with its context.
func (p *sharedProcessor) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.run = nil
	for _, r := range p.registrations {
		if r.life == kept {
			p.end(r)
		}
	}
}

// add adds a registration, between two write sections. What was begun has an initial
// state for it.
func (p *sharedProcessor) add(tx *indexer.Tx, r *registration) {
	if p.begun {
		r.feed.start(tx.Snapshot(), p.log.Published())
	}
	p.mu.Lock()
	defer p.mu.Unlock()

	p.registrations = append(p.registrations, r)
	p.count.Add(1)
	if r.options.Delivery == Latest {
		p.latest++
	}
	if r.options.MaxBacklog > 0 {
		p.bounded.Add(1)
	}
	switch {
	case p.run != nil:
		p.launch(r)
	case p.ran:
		r.life = kept
		p.end(r)
	}
}

// launch starts a registration's goroutine; where that of the run before is
// still busy, with its end. The caller holds mu.
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
	if r.runs != nil { // has room: the loop takes one run
		run.handlers.Add(1)
		r.runs <- run
		return
	}
	run.handlers.Go(func() {
		defer p.returned(r, run)
		r.work(run)
	})
}

// returned is called when a registration's goroutine ends, with the run that it
// delivered for.
func (p *sharedProcessor) returned(r *registration, run *run) {
	p.mu.Lock()
	defer p.mu.Unlock()

	switch {
	case r.life == stopping:
		r.life = gone
		p.end(r)
	case p.run == nil:
		r.life = kept
		p.end(r)
	case p.run != run: // another run has begun meanwhile
		r.life = kept
		p.launch(r)
	default: // finish is about to be called
		r.life = kept
	}
}

// end tells that nothing more will be delivered. The caller holds mu.
func (p *sharedProcessor) end(r *registration) {
	if !closed(r.done) {
		close(r.done)
	}
}

// stop ends a registration, at once: its handler may be stuck, and its goroutine yet
// to end. A second time it does nothing.
func (p *sharedProcessor) stop(r *registration) {
	p.mu.Lock()
	defer p.mu.Unlock()

	switch r.life {
	case stopping, gone:
		return
	case delivering:
		r.life = stopping
	case idle, kept:
		r.life = gone
		p.end(r)
	}
	close(r.stopping)
	r.feed.close() // first: without handlers the publisher clears what it has read
	r.taken.Store(nil)
	p.remove(r)
}

// remove drops a registration. The caller holds mu.
func (p *sharedProcessor) remove(r *registration) {
	i := slices.Index(p.registrations, r)
	if i < 0 { // it was refused
		return
	}
	p.registrations = slices.Delete(p.registrations, i, i+1)
	p.count.Add(-1)
	if r.options.Delivery == Latest {
		p.latest--
	}
	if r.options.MaxBacklog > 0 {
		p.bounded.Add(-1)
	}
	p.leave(r)
}

// done returns the channel that is closed when a registration tells nothing more.
func (p *sharedProcessor) done(r *registration) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()

	return r.done
}

// tellLagging reports the handlers whose backlog has grown above its bound, once until
// they have caught up.
func (p *sharedProcessor) tellLagging() {
	if p.bounded.Load() == 0 {
		return
	}
	for _, r := range p.all() {
		bound := r.options.MaxBacklog
		if bound == 0 {
			continue
		}
		if backlog, initial := r.feed.pending(); backlog-initial > bound && p.lags(r) {
			p.observe(HandlerLagging{Handler: r.options.Name, Backlog: backlog})
		}
	}
}

// lags notes that a registration lags. It returns false where that is known, and where
// the registration has caught up meanwhile.
func (p *sharedProcessor) lags(r *registration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()

	if r.lagging || r.parking.state == parked {
		return false
	}
	r.lagging = true
	return true
}

// status tells how the handlers are doing.
func (p *sharedProcessor) status() (handlers []HandlerStatus) {
	p.mu.Lock()
	defer p.mu.Unlock()

	for _, r := range p.registrations {
		handlers = append(handlers, HandlerStatus{
			Name: r.options.Name, Synced: closed(r.synced), Backlog: r.Backlog(),
			Lagging: r.lagging, Failures: int(r.failures.Load()), Told: r.feed.total(),
		})
	}
	return handlers
}

// pass is called each second where somebody inspects the informer, with the time of when
// it was called before.
func (p *sharedProcessor) pass(before time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()

	for _, r := range p.registrations {
		if w := r.watch.Load(); w != nil && r.telling() {
			w.pass(before)
		}
	}
}

// measure puts what was measured of a handler into its measures.
func (p *sharedProcessor) measure(r *registration, to *HandlerMeasures) {
	p.mu.Lock() // nobody clears the log meanwhile
	defer p.mu.Unlock()

	switch w := r.watch.Load(); {
	case w != nil:
		w.read(to, r.feed.only())
	case r.telling():
		to.sinceEver(p.clock.Load())
	}
}

// all returns the registrations of now.
func (p *sharedProcessor) all() []*registration {
	p.mu.Lock()
	defer p.mu.Unlock()

	return slices.Clone(p.registrations)
}
