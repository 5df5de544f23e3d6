package delivery

import (
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
	"github.com/tidemark-k8s/tidemark/informer/internal/measure"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// Burst is the number of events that a handler takes from its feed at once.
const Burst = 64

// SharedProcessor delivers the log to the registrations. The cost of publishing does not depend on the number
// of handlers, except for waking those that sleep.
//
// Lock order: the store's write section, then mu, then a feed's mu.
type SharedProcessor struct {
	informer string // for messages
	store    *indexer.Writer
	panicked func(handler string, value any) // called with a handler's panic
	log      *eventlog.Log
	// syncedAt is the position of the log at which the store was complete. Before that it is MaxUint64.
	syncedAt atomic.Uint64
	// epoch times the handlers' calls. It is nil until the informer is inspected.
	epoch atomic.Pointer[measure.Epoch]
	// feedsStarted is set by StartFeeds. It is written and read in write sections.
	feedsStarted bool
	batches      sync.Pool // empty batches; a sleeping registration holds none

	mu            sync.Mutex
	run           *Run // nil before it begins
	registrations []*Registration
	count         atomic.Int32 // len(registrations); written under mu
	asleep        atomic.Int32 // number of parked registrations; written under mu
	filled        atomic.Bool  // events published since MergeBehind have filled a segment of the log
}

// New returns the processor of an informer's handlers, which reads the log of a store's changes. A handler's
// goroutine calls panicked with no lock held.
func New(informer string, store *indexer.Writer, log *eventlog.Log, panicked func(handler string, value any)) *SharedProcessor {
	p := &SharedProcessor{informer: informer, store: store, log: log, panicked: panicked}
	p.batches.New = func() any { return eventlog.NewBatch(Burst) }
	p.syncedAt.Store(math.MaxUint64)
	return p
}

// stored reports whether an object is the one stored under a key.
func (p *SharedProcessor) stored(key indexer.Key, obj any) bool {
	now, ok := p.store.Stored(key)
	return ok && object.Same(now, obj)
}

// batch returns an empty batch.
func (p *SharedProcessor) batch() *eventlog.Batch { return p.batches.Get().(*eventlog.Batch) }

// recycle takes an empty batch back, unless it has grown beyond a burst.
func (p *SharedProcessor) recycle(b *eventlog.Batch) {
	if b.Room() <= Burst {
		p.batches.Put(b)
	}
}

// Publish makes the appended events visible to the handlers. The caller is in a write section.
func (p *SharedProcessor) Publish() {
	if p.log.Publish() {
		p.filled.Store(true)
	}
	if p.count.Load() == 0 {
		p.clearUnread()
	}
	if p.asleep.Load() > 0 {
		p.wakeAll()
	}
}

// clearUnread is clearRead for the publisher when there are no handlers. It takes mu, because the Stop of the
// last handler may still be clearing the log.
func (p *SharedProcessor) clearUnread() {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.clearRead()
}

// MergeBehind merges the pending events of handlers that lag too far and have merged delivery. The publisher
// calls it after its write section, because merging the events of a large full state takes a while.
func (p *SharedProcessor) MergeBehind() {
	if !p.filled.Load() {
		return
	}
	p.filled.Store(false)
	p.mu.Lock()
	defer p.mu.Unlock()

	for _, r := range p.registrations {
		if r.Options.Merge {
			r.feed.mergeBehind()
		}
	}
}

// Started reports whether the feeds are started. The caller is in a write section, or is the goroutine that
// starts them.
func (p *SharedProcessor) Started() bool { return p.feedsStarted }

// StartFeeds gives every registration the initial state to replay, and a position in the log to follow from.
// It is called in the write section of the first commit.
func (p *SharedProcessor) StartFeeds(initial indexer.Snapshot[any]) {
	p.feedsStarted = true
	p.mu.Lock()
	for _, r := range p.registrations {
		r.feed.start(initial, p.log.Published())
	}
	p.mu.Unlock()
	p.wakeAll()
}

// MarkSynced records the log's end as the position of the complete store. The caller is in a write
// section.
func (p *SharedProcessor) MarkSynced() {
	p.syncedAt.Store(p.log.End())
	p.wakeAll()
}

// resync starts to deliver the store's current objects to a handler again.
func (p *SharedProcessor) resync(r *Registration) {
	p.store.Freeze(func(tx *indexer.Tx) { r.feed.resync(tx.Snapshot(), p.log.Published()) })
}

// Start starts the goroutines of all registrations, which end with the run's context.
func (p *SharedProcessor) Start(run *Run) {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.run = run
	for _, r := range p.registrations {
		p.launch(r)
	}
}

// Add adds a registration between two write sections. If a full state has been committed before, the
// registration starts with the store's objects. The informer has not stopped.
func (p *SharedProcessor) Add(tx *indexer.Tx, r *Registration) {
	if p.feedsStarted {
		r.feed.start(tx.Snapshot(), p.log.Published())
	}
	p.mu.Lock()
	defer p.mu.Unlock()

	p.registrations = append(p.registrations, r)
	p.count.Add(1)
	if p.run != nil {
		p.launch(r)
	}
}

// launch starts a registration's goroutine. The caller holds mu.
func (p *SharedProcessor) launch(r *Registration) {
	r.life = delivering
	run := p.run
	run.Handlers.Go(func() {
		defer p.returned(r)
		r.work(run)
	})
}

// returned is called when a registration's goroutine ends, because it was stopped or the informer stops.
func (p *SharedProcessor) returned(r *Registration) {
	p.mu.Lock()
	defer p.mu.Unlock()

	r.bury()
	p.clearRead()
}

// bury marks that the registration delivers nothing more. The caller holds SharedProcessor.mu.
func (r *Registration) bury() {
	r.life = gone
	r.release()
	close(r.done)
}

// release drops the undelivered events. The caller holds SharedProcessor.mu.
func (r *Registration) release() {
	r.feed.close()
	r.taken.Store(nil)
}

// stop ends a registration without waiting for its goroutine, because the handler may be stuck. A second call
// does nothing.
func (p *SharedProcessor) stop(r *Registration) {
	p.mu.Lock()
	defer p.mu.Unlock()

	if closed(r.stopCalled) {
		return
	}
	if r.life == idle {
		r.bury()
	}
	close(r.stopCalled)
	r.release()
	p.remove(r)
	p.clearRead() // after remove: what is published from now on, the publisher or the remaining handlers clear
	r.Progress.Wake()
}

// remove drops a registration. The caller holds mu.
func (p *SharedProcessor) remove(r *Registration) {
	i := slices.Index(p.registrations, r)
	if i < 0 { // the registration was refused
		return
	}
	p.registrations = slices.Delete(p.registrations, i, i+1)
	p.count.Add(-1)
	p.markAwake(r)
}

// Run is the part of an informer's run that the handlers need.
type Run struct {
	Context  context.Context // ends with the run; set when the run begins
	Stopping atomic.Bool     // set when nothing more is applied or delivered
	Handlers sync.WaitGroup  // goroutines of the handlers, and other goroutines that the run waits for
	// Exit ends the run with an error.
	Exit func(error)
}

// Within calls work on a goroutine of the run. If a callback ends the goroutine, the run ends with
// [indexer.ErrExited].
func (r *Run) Within(work func()) {
	returned := false
	defer func() {
		if returned {
			return
		}
		if p := recover(); p != nil {
			panic(p)
		}
		r.Exit(indexer.ErrExited)
	}()
	work()
	returned = true
}

// State is the state of a handler.
type State struct {
	Name      string
	Synced    bool
	Backlog   int
	Failures  int    // how often the handler panicked
	Delivered uint64 // events delivered
}

// States returns the state of each handler.
func (p *SharedProcessor) States() (all []State) {
	p.mu.Lock()
	defer p.mu.Unlock()

	for _, r := range p.registrations {
		all = append(all, State{
			Name: r.Options.Name, Synced: closed(r.synced), Backlog: r.Backlog(),
			Failures: int(r.failures.Load()), Delivered: r.feed.total(),
		})
	}
	return all
}

// All returns a copy of the list of registrations.
func (p *SharedProcessor) All() []*Registration {
	p.mu.Lock()
	defer p.mu.Unlock()

	return slices.Clone(p.registrations)
}

func closed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}
