package delivery

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
	"github.com/tidemark-k8s/tidemark/informer/internal/measure"
)

// Receiver calls the handler of a registration.
type Receiver interface {
	// CallHandler passes the next event of a batch to the handler, or as many events as the handler takes at
	// once. It removes these events from the batch, even if the handler does not return.
	CallHandler(b *eventlog.Batch)
	// AtOnce returns the most events that the handler takes at once.
	AtOnce() int
	// Context returns the context for reports of the handler's panics, which is made from the context of the
	// run.
	Context(run context.Context) context.Context
}

// Options configure the delivery to a handler.
type Options struct {
	Name   string        // for messages
	Merge  bool          // the pending changes of an object become one
	Resync time.Duration // the period in which all objects are delivered again; none if not positive
	Owner  any           // identifies the owner of the registration
}

// Registration connects one handler to the store's changes. It has a life, a way to sleep, and a feed.
type Registration struct {
	Options Options // never changed
	// Progress wakes the goroutines that wait for the handler to receive more. While a goroutine waits, the
	// handler publishes its progress before each event.
	Progress Waker

	processor *SharedProcessor
	receiver  Receiver
	feed      feed

	stopCalled chan struct{}                     // closed by Stop
	synced     chan struct{}                     // closed once the initial state has been delivered
	done       chan struct{}                     // closed once nothing more will be delivered
	failures   atomic.Int64                      // number of panics of the handler
	timing     atomic.Pointer[measure.Stopwatch] // nil until the informer is inspected

	// taken holds the events taken from the feed. It survives a panic of the handler. Stop takes it away from
	// a stuck handler.
	taken atomic.Pointer[eventlog.Batch]

	// Guarded by SharedProcessor.mu.
	life    life
	parking parking
}

// life is the state of a registration. Transitions: processor.go.
type life uint8

const (
	idle       life = iota // the informer has not started
	delivering             // it has a goroutine
	gone                   // the registration or the informer has stopped
)

// NewRegistration returns a registration for a handler. It is not added yet.
func (p *SharedProcessor) NewRegistration(to Receiver, o Options) *Registration {
	r := &Registration{
		Options: o, processor: p, receiver: to,
		feed:       feed{log: p.log, burst: Burst},
		stopCalled: make(chan struct{}),
		synced:     make(chan struct{}),
		done:       make(chan struct{}),
	}
	if to.AtOnce() > 1 {
		r.feed.burst = to.AtOnce()
	}
	if o.Merge {
		r.feed.changes = &latestChanges{feed: &r.feed, most: to.AtOnce(), stored: p.stored}
	} else {
		r.feed.changes = &everyChange{feed: &r.feed}
	}
	r.parking.token = make(chan struct{}, 1)
	return r
}

// Name returns the name of the handler.
func (r *Registration) Name() string { return r.Options.Name }

// Synced returns a channel that is closed once the handler has got the whole initial state.
func (r *Registration) Synced() <-chan struct{} { return r.synced }

// HasSynced reports whether the channel of Synced is closed.
func (r *Registration) HasSynced() bool { return closed(r.synced) }

// Done returns a channel that is closed once nothing more will be delivered.
func (r *Registration) Done() <-chan struct{} { return r.done }

// Stop ends the registration, and drops its pending events.
func (r *Registration) Stop() { r.processor.stop(r) }

// Backlog returns the number of undelivered events, without a resync.
func (r *Registration) Backlog() int {
	events, _ := r.feed.pending()
	return events
}

// Until returns nil if the handler has received the log up to a position, or has stopped. Otherwise it
// returns a channel that is closed when the handler has received more. The caller has joined Progress.
func (r *Registration) Until(position uint64) <-chan struct{} {
	more := r.Progress.Changed() // first, so that later progress closes it
	if last, ok := r.feed.delivered(); ok && last >= position || closed(r.stopCalled) {
		return nil
	}
	return more
}

// stopped reports whether delivery must end.
func (r *Registration) stopped(run *Run) bool {
	return closed(r.stopCalled) || run.Context.Err() != nil
}

// work delivers for a run, until the run ends or the registration is stopped.
func (r *Registration) work(run *Run) {
	tick, stop := r.ticker()
	defer stop()
	run.Within(func() { r.loop(r.receiver.Context(run.Context), run, tick) })
}

func (r *Registration) loop(ctx context.Context, run *Run, tick <-chan time.Time) {
	defer r.returnBatch()
	for !r.stopped(run) {
		switch {
		case r.deliver(ctx, run):
			r.publishProgress()
			select {
			case <-tick:
				r.processor.resync(r)
			default:
			}
		case r.processor.park(r):
			r.sleep(run, tick)
		}
	}
}

func (r *Registration) sleep(run *Run, tick <-chan time.Time) {
	select {
	case <-r.parking.token:
		return
	case <-tick:
		r.processor.resync(r)
	case <-r.stopCalled:
	case <-run.Context.Done():
	}
	r.processor.unpark(r)
}

// ticker returns a channel that ticks with the resync period, or nil without one.
func (r *Registration) ticker() (tick <-chan time.Time, stop func()) {
	if r.Options.Resync <= 0 {
		return nil, func() {}
	}
	t := time.NewTicker(r.Options.Resync)
	return t.C, t.Stop
}

// deliver calls the handler with the next few events. It returns false if there are none. Because a call may
// take any time, deliver publishes the handler's progress before an event if a goroutine waits for it, or if
// the handler may have become synced. While the informer is inspected, it also publishes once a second.
//
// A panic of the handler is reported as in any controller, which ends the process unless
// utilruntime.ReallyCrash is false. The handler misses only that event.
func (r *Registration) deliver(ctx context.Context, run *Run) (some bool) {
	if r.takeMore() == nil {
		return false
	}
	defer func() {
		if value := recover(); value != nil {
			Crash(ctx, value, r.processor.informer, r.Options.Name, r.taken.Load(), r.panicked)
		}
	}()
	defer r.stopTiming()
	some = true
	synced := closed(r.synced)  // never reset; reading the channel costs a third of a delivery
	epoch := &r.processor.epoch // read before each call, so that measuring begins with the next call
	for b := r.taken.Load(); b != nil && b.Left() > 0 && !run.Stopping.Load(); b = r.taken.Load() {
		if epoch.Load() != nil && r.stopwatch().Next(b.Ahead()) || r.Progress.awaited() || !synced && !b.AtInitial() {
			r.publishProgress()
		}
		r.receiver.CallHandler(b) // nothing else uses b during the call, because Stop only takes it away
	}
	return some
}

// Crash handles a panic as utilruntime.HandleCrashWithContext does. A deferred function calls it. Before
// client-go's line, which programs may look for, it logs a line with the informer, the handler and the object
// of the event. The object is missing if Stop has taken the batch.
func Crash(ctx context.Context, value any, informer, handler string, b *eventlog.Batch, also ...func(context.Context, any)) {
	const depth = 4 // the function that has panicked, as there
	log, names := klog.FromContext(ctx), []any{"informer", informer, "handler", handler}
	if b != nil {
		if key, ok := b.LastKey(); ok {
			names = append(names, "object", key)
		}
	}
	log.Error(nil, "A handler has panicked", names...)
	ctx = klog.NewContext(ctx, log.WithCallDepth(depth))
	for _, handle := range slices.Concat(utilruntime.PanicHandlers, also) {
		handle(ctx, value)
	}
	if utilruntime.ReallyCrash {
		panic(value)
	}
}

func (r *Registration) panicked(_ context.Context, value any) {
	r.failures.Add(1)
	r.publishProgress() // first: the observer may end the goroutine
	r.processor.panicked(r.Options.Name, value)
}

// takeMore returns the batch of events to deliver: the rest of the last one, or the next events of
// the feed. It returns nil if there are none.
func (r *Registration) takeMore() *eventlog.Batch {
	b := r.taken.Load()
	if b != nil && b.Left() > 0 {
		return b
	}
	fresh := b == nil
	if fresh {
		b = r.processor.batch()
	}
	if !r.feed.take(b) {
		if fresh {
			r.processor.recycle(b)
		}
		return nil
	}
	r.taken.Store(b)
	if closed(r.stopCalled) { // Stop finds the batch in taken, or ran before it was stored there
		r.taken.Store(nil)
		return nil
	}
	return b
}

// publishProgress publishes the handler's progress.
func (r *Registration) publishProgress() {
	b := r.taken.Load()
	if b == nil { // stopped
		return
	}
	left := b.Left()
	if left == 0 {
		b.Empty()
	}
	r.feed.progress(left)
	r.markHandlerSynced()
	r.Progress.Wake()
}

// markHandlerSynced closes synced once the handler has received everything up to the complete store. It runs
// on the registration's goroutine.
func (r *Registration) markHandlerSynced() {
	if closed(r.synced) {
		return
	}
	if position, ok := r.feed.delivered(); ok && position >= r.processor.syncedAt.Load() {
		close(r.synced)
	}
}

// ready reports whether there are events to deliver.
func (r *Registration) ready() bool {
	b := r.taken.Load()
	return b != nil && b.Left() > 0 || r.feed.ready()
}

// returnBatch returns a delivered batch to the pool, before the goroutine sleeps or ends.
func (r *Registration) returnBatch() {
	if b := r.taken.Load(); b != nil && b.Left() == 0 && r.taken.CompareAndSwap(b, nil) {
		b.Empty() // it still holds events if the handler ended the goroutine
		r.processor.recycle(b)
	}
}
