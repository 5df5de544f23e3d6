package informer

import (
	"context"
	"sync/atomic"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
	"github.com/tidemark-k8s/tidemark/informer/internal/measure"
)

// Registration is one handler's place in an informer. While the informer runs, a goroutine of its
// own delivers the initial state and then each change. Its methods may be called from anywhere,
// from within the handler too.
type Registration interface {
	// Name returns the name under which the handler was registered.
	Name() string
	// Synced returns a channel that is closed once the handler has been told
	// the whole initial state (client-go's
	// ResourceEventHandlerRegistration.HasSynced). It stays open if the informer
	// or the registration stops before.
	Synced() <-chan struct{}
	// Backlog returns the number of undelivered events. With [Latest] it counts one for each object
	// with merged changes, and each event not merged yet. Events in the handler's hands count, and
	// go down in steps of some events; the number is exact when the handler has none in hand. A
	// resync does not count.
	Backlog() int
	// Stop ends the registration, and drops its pending events. One call of the handler may still
	// be running when Stop returns; see Done. A second call does nothing.
	Stop()
	// Done returns a channel that is closed once nothing more will be delivered: the registration
	// or the informer was stopped, and the last call of the handler has returned; or the handler has
	// ended its goroutine (runtime.Goexit), which ends the registration.
	Done() <-chan struct{}
	// Err returns an error that wraps [ErrExited] if the handler has ended its goroutine, and nil
	// otherwise.
	Err() error
}

// registration implements [Registration]: a life, a place to sleep, and a feed.
type registration struct {
	processor *sharedProcessor
	receiver  receiver
	options   HandlerOptions
	feed      feed
	onPanic   []func(context.Context, any)
	owner     *owner // nil for none

	runs       chan *run     // runs for a loop on its caller's goroutine to deliver for; nil for a handler
	stopCalled chan struct{} // closed by Stop
	synced     chan struct{} // closed once the initial state has been told
	err        error         // why the registration was stopped, set before stopCalled is closed
	failures   atomic.Int64  // how often the handler panicked
	observing  bool          // its goroutine calls the observer
	waiters    deliveryWaiters
	timing     atomic.Pointer[measure.Stopwatch] // nil until somebody inspects the informer

	// taken holds the events taken from the feed. It outlives a panic and the end of the run. Stop
	// takes it away from a stuck handler.
	taken atomic.Pointer[eventlog.Batch]

	// Guarded by sharedProcessor.mu.
	life      life
	done      chan struct{} // closed once nothing more will be delivered
	parking   parking
	overBound bool // the backlog is above its bound, and this was reported
}

// life is the state of a registration. Transitions: processor.go.
type life uint8

const (
	idle       life = iota // no run has begun since it was added: no goroutine
	delivering             // it has a goroutine
	kept                   // the run is over; it waits for the next one, without a goroutine
	stopping               // Stop was called, and its goroutine is yet to end
	gone                   // Stop was called, and it has no goroutine
)

func newRegistration(p *sharedProcessor, to receiver, o HandlerOptions) *registration {
	r := &registration{
		processor: p, receiver: to, options: o,
		feed:       p.newFeed(o.Delivery, to.atOnce()),
		stopCalled: make(chan struct{}),
		synced:     make(chan struct{}),
		done:       make(chan struct{}),
	}
	r.parking.token = make(chan struct{}, 1)
	r.onPanic = []func(context.Context, any){r.panicked}
	return r
}

func (r *registration) Name() string { return r.options.Name }

func (r *registration) Synced() <-chan struct{} { return r.synced }

func (r *registration) Done() <-chan struct{} { return r.processor.done(r) }

func (r *registration) Stop() { r.processor.stop(r, nil) }

func (r *registration) Err() error {
	if closed(r.stopCalled) {
		return r.err
	}
	return nil
}

func (r *registration) Backlog() int {
	events, _ := r.feed.pending()
	return events
}

// stopped reports whether delivery is to end, for good or for this run.
func (r *registration) stopped(run *run) bool { return closed(r.stopCalled) || run.ctx.Err() != nil }

// work delivers for a run, until the run ends or the registration is stopped. If the handler ends the
// goroutine, the registration ends.
func (r *registration) work(run *run) {
	tick, stop := r.ticker()
	defer stop()
	returned := false
	defer func() {
		if returned {
			return
		}
		if p := recover(); p != nil {
			panic(p)
		}
		r.processor.exited(r, run)
	}()
	r.loop(r.receiver.context(run.ctx), run, tick)
	returned = true
}

func (r *registration) loop(ctx context.Context, run *run, tick <-chan time.Time) {
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

func (r *registration) sleep(run *run, tick <-chan time.Time) {
	select {
	case <-r.parking.token:
		return
	case <-tick:
		r.processor.resync(r)
	case <-r.stopCalled:
	case <-run.ctx.Done():
	}
	r.processor.unpark(r)
}

// ticker returns a channel that ticks with the resync period, or nil without one.
func (r *registration) ticker() (tick <-chan time.Time, stop func()) {
	if r.options.Resync <= 0 {
		return nil, func() {}
	}
	t := time.NewTicker(r.options.Resync)
	return t.C, t.Stop
}

// deliver calls the handler with the next few events. It returns false if there are none. A call
// may take any time, so deliver publishes the handler's progress before an event if somebody waits
// for it: for a delivery or, outside of the initial state, for the handler to be synced. While somebody
// inspects the informer, it publishes once a second.
//
// A panic of the handler is reported as in any controller, which ends the process unless
// utilruntime.ReallyCrash is false. It costs the one event being handled.
func (r *registration) deliver(ctx context.Context, run *run) (some bool) {
	if r.takeMore() == nil {
		return false
	}
	if r.runs == nil {
		defer utilruntime.HandleCrashWithContext(ctx, r.onPanic...)
	}
	defer r.stopTiming()
	some = true
	synced := closed(r.synced) // never reset; reading the channel costs a third of a delivery
	for b := r.taken.Load(); b != nil && b.Left() > 0 && !run.stopping.Load(); b = r.taken.Load() {
		w := r.stopwatch()
		if w != nil && w.Next(b.Ahead()) || r.waiters.some() || !synced && !b.AtInitial() {
			r.publishProgress()
		}
		r.receiver.callHandler(b) // b is in no other hands meanwhile: Stop takes it away
	}
	return some
}

func (r *registration) panicked(_ context.Context, value any) {
	r.failures.Add(1)
	r.publishProgress() // first: the observer may end the goroutine
	r.observing = true
	r.processor.observe(HandlerPanicked{Handler: r.options.Name, Value: value})
	r.observing = false
}

// takeMore returns the batch of events to deliver: the rest of the last one, or the next events of
// the feed. It returns nil if there are none.
func (r *registration) takeMore() *eventlog.Batch {
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
	if closed(r.stopCalled) { // Stop finds the batch taken, or ran before it was stored
		r.taken.Store(nil)
		return nil
	}
	return b
}

// publishProgress publishes the handler's progress.
func (r *registration) publishProgress() {
	b := r.taken.Load()
	if b == nil { // stopped
		return
	}
	left := b.Left()
	if left == 0 {
		b.Empty()
	}
	r.feed.progress(left)
	r.checkHandlerSynced()
	r.waiters.wake(r.feed)
}

// checkHandlerSynced closes synced once the handler was told everything up to the complete store.
// It runs on the registration's goroutine.
func (r *registration) checkHandlerSynced() {
	if closed(r.synced) {
		return
	}
	if position, ok := r.feed.delivered(); ok && position >= r.processor.syncedAt.Load() {
		close(r.synced)
	}
}

// ready reports whether there are events to deliver.
func (r *registration) ready() bool {
	b := r.taken.Load()
	return b != nil && b.Left() > 0 || r.feed.ready()
}

// returnBatch returns a delivered batch to the pool, before the goroutine sleeps or ends.
func (r *registration) returnBatch() {
	if b := r.taken.Load(); b != nil && b.Left() == 0 && r.taken.CompareAndSwap(b, nil) {
		b.Empty() // it holds events if the goroutine was ended at the last of them
		r.processor.recycle(b)
	}
}

// stopwatch returns the stopwatch of the handler's calls, nil while nobody inspects the informer. It
// is asked for before each call, so that measuring begins with the next one.
func (r *registration) stopwatch() *measure.Stopwatch {
	clock := r.processor.clock.Load()
	if clock == nil {
		return nil
	}
	if w := r.timing.Load(); w != nil {
		return w
	}
	w := measure.NewStopwatch(clock)
	r.timing.Store(w)
	return w
}

// stopTiming ends the timing of a burst, also after a panic of the handler.
func (r *registration) stopTiming() {
	if w := r.timing.Load(); w != nil {
		w.Stop()
	}
}

// lag returns the age of the oldest undelivered event, zero if there is none.
func (r *registration) lag(m *measure.Measures) time.Duration {
	events, initial := r.feed.pending()
	if events == 0 {
		return 0
	}
	if initial > 0 {
		return time.Since(r.feed.started())
	}
	position, _ := r.feed.delivered()
	return m.Age(position)
}
