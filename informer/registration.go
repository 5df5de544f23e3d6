package informer

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/verify"
)

// Registration is one handler's place in an informer. While the informer runs
// a goroutine of its own delivers: first the initial state, then each change.
// Its methods may be called from anywhere, from within the handler too.
type Registration interface {
	// Name returns the name that the handler was registered under.
	Name() string
	// Synced returns a channel that is closed once the handler has been told
	// the whole initial state (client-go's
	// ResourceEventHandlerRegistration.HasSynced). It stays open if the informer
	// or the registration stops before.
	Synced() <-chan struct{}
	// Backlog returns how many events wait to be delivered: with [Latest] at
	// most one for each object, and what is left of the initial state. It counts
	// in steps of some events while the handler is busy, and is exact when it is
	// not.
	Backlog() int
	// Stop ends the registration: what is pending is dropped. One call of the
	// handler that runs, or is about to, may still be running when Stop returns;
	// see Done. A second call does nothing.
	Stop()
	// Done returns a channel that is closed once nothing more will be
	// delivered: the registration or the informer was stopped, and the last call
	// of the handler has returned.
	Done() <-chan struct{}
}

// registration is what a [Registration] is.
type registration struct {
	core     *core
	receiver receiver
	options  HandlerOptions

	wake   chan struct{} // one token, for a sleeper
	asleep bool          // guarded by sharedProcessor.mu

	stopOnce sync.Once
	stopping chan struct{} // closed by Stop
	ended    atomic.Bool   // set with it, for the loops over events
	synced   chan struct{} // closed once the initial state has been handled
	done     chan struct{} // closed once nothing more will be delivered; guarded by core.mu
	running  bool          // the goroutine exists; guarded by core.mu

	// position is how far in the log the handler is, noPosition before the
	// initial state and after Stop. Written last of what begin sets.
	position atomic.Uint64
	// The events on their way to the handler: of the initial state, of a resync, of
	// the log. The goroutine looks them up anew for each event, so that Stop can
	// take them away from a handler that is stuck.
	replay   atomic.Pointer[replay]
	resynced atomic.Pointer[replay]
	taken    atomic.Pointer[taken] // with Every only
	isSynced bool                  // the goroutine's own

	// The goroutine's own: the objects that are being handed over, where the log
	// does not have them so, and the add that is owed after a delete where an
	// object was recreated.
	scratch pair
	split   bool
	then    event
	splits  bool // the receiver wants that

	// mu guards what follows: the publisher folds for a handler with Latest that
	// lags, and Stop lets go of it all. With Every, the tables are unused.
	mu     sync.Mutex
	cursor cursor // what comes next; of no use at noPosition
	table  latest
	// during a resync at a position, what lies behind that waits in later.
	resyncing bool
	at        uint64
	later     latest
}

// noPosition is before the log.
const noPosition = ^uint64(0)

// replay is a state of the store on its way to one handler.
type replay struct {
	objects indexer.Snapshot[any]
	next    atomic.Int64
}

func (p *replay) left() int { return p.objects.Len() - int(p.next.Load()) }

// take returns the next object. There is one left.
func (p *replay) take() any { return p.objects.At(int(p.next.Add(1)) - 1) }

func newRegistration(c *core, to receiver, o HandlerOptions) *registration {
	r := &registration{
		core: c, receiver: to, options: o,
		wake:     make(chan struct{}, 1),
		stopping: make(chan struct{}),
		synced:   make(chan struct{}),
		done:     make(chan struct{}),
	}
	r.splits = to.splits()
	r.position.Store(noPosition)
	return r
}

func (r *registration) Name() string { return r.options.Name }

func (r *registration) Synced() <-chan struct{} { return r.synced }

func (r *registration) Done() <-chan struct{} {
	r.core.mu.Lock()
	defer r.core.mu.Unlock()

	return r.done
}

func (r *registration) Stop() {
	r.stopOnce.Do(func() {
		r.ended.Store(true)
		close(r.stopping)
		r.core.leave(r)
	})
}

func (r *registration) Backlog() int {
	left := 0
	if p := r.replay.Load(); p != nil {
		left = p.left()
	}
	r.mu.Lock()
	defer r.mu.Unlock()

	position := r.position.Load() // first: it runs after the end
	end := r.core.processor.log.end.Load()
	switch {
	case position == noPosition:
		return 0
	case r.options.Delivery == Latest:
		r.fold(end)
		return left + len(r.table.byKey) + len(r.later.byKey)
	}
	return left + max(0, int(end-position)) //nolint:gosec // it fits in memory
}

// begin hands over the initial state, and the place in the log that belongs
// to it. The goroutine waits for that, or is yet to start.
func (r *registration) begin(objects indexer.Snapshot[any], from cursor) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.cursor = from
	r.replay.Store(&replay{objects: objects})
	r.position.Store(from.position())
}

// letGo drops everything that a stopped registration was still to deliver. Its
// handler may be stuck in an event: the goroutine holds on to nothing else then.
func (r *registration) letGo() {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.position.Store(noPosition)
	r.replay.Store(nil)
	r.resynced.Store(nil)
	r.taken.Store(nil)
	r.cursor, r.table, r.later = cursor{}, latest{}, latest{}
}

// idle tells whether there is nothing to deliver. The goroutine asks.
func (r *registration) idle() bool {
	position := r.position.Load()
	if position == noPosition {
		return true
	}
	if !r.isSynced {
		r.settle()
	}
	return r.replay.Load() == nil && position == r.core.processor.log.end.Load() && len(r.table.byKey) == 0
}

// run delivers until ctx ends or the registration is stopped.
func (r *registration) run(ctx context.Context) {
	tick, stop := r.ticker()
	defer stop()
	defer r.giveBack()
	for !r.stopped(ctx) {
		if r.deliver(noPosition) {
			if !r.isSynced {
				r.settle()
			}
			select {
			case <-tick:
				r.resync(ctx)
			default:
			}
		} else if r.core.processor.rest(r) {
			r.sleep(ctx, tick)
		}
	}
}

func (r *registration) sleep(ctx context.Context, tick <-chan time.Time) {
	select {
	case <-r.wake:
		return
	case <-tick:
		r.core.processor.rise(r)
		r.resync(ctx)
	case <-r.stopping:
		r.core.processor.rise(r)
	case <-ctx.Done():
		r.core.processor.rise(r)
	}
}

// ticker returns the channel of the resync period, nil if there is none.
func (r *registration) ticker() (tick <-chan time.Time, stop func()) {
	if r.options.Resync <= 0 {
		return nil, func() {}
	}
	t := time.NewTicker(r.options.Resync)
	return t.C, t.Stop
}

func (r *registration) stopped(ctx context.Context) bool {
	return r.ended.Load() || ctx.Err() != nil
}

// halted is stopped for the loops over events, and hears of the end of the run
// a moment later.
func (r *registration) halted() bool {
	return r.ended.Load() || r.core.halted.Load()
}

// deliver hands over the next few events, up to a position of the log. It
// returns false if there are none. A panic of the handler costs the one change
// that it was told.
func (r *registration) deliver(limit uint64) (some bool) {
	defer r.caught(&some)
	if r.position.Load() == noPosition {
		return false
	}
	if r.split {
		r.tellThen()
		return true
	}
	if r.replay.Load() != nil {
		r.replaySome()
		return true
	}
	if r.options.Delivery == Latest {
		return r.deliverLatest()
	}
	return r.deliverSome(limit)
}

// tell hands one event to the handler. Where an object was recreated, a
// typed handler is told a delete and an add.
func (r *registration) tell(e event, key *indexer.Key) {
	if !r.splits || !e.is(flagRecreated) {
		r.hand(e.pair, e.header, key)
		return
	}
	r.then, r.split = event{pair{new: e.new}, header{kind: Added}}, true
	r.hand(pair{old: e.old}, header{Deleted, flagLost}, key)
	if !r.halted() {
		r.tellThen() // or else in the next run
	}
}

// tellThen tells the add that is owed after a delete.
func (r *registration) tellThen() {
	then := r.then
	r.split, r.then = false, event{}
	r.hand(then.pair, then.header, nil)
}

// hand gives the handler an event that is not in the log as it is, and holds on to
// no object of it, whatever the handler does.
func (r *registration) hand(p pair, h header, key *indexer.Key) {
	defer func() { r.scratch = pair{} }()
	r.scratch = p
	r.receiver.receive(&r.scratch, h, key)
}

// caught reports a panic of the handler as any controller's is reported,
// which ends the process unless utilruntime.ReallyCrash says otherwise.
func (r *registration) caught(some *bool) {
	if p := recover(); p != nil {
		*some = true
		r.core.observe(HandlerPanicked{Handler: r.options.Name, Value: p})
		crash(p, loggerOf(r.receiver))
	}
}

func crash(p any, log klog.Logger) {
	defer utilruntime.HandleCrashWithLogger(log)
	panic(p)
}

// replaySome delivers a part of the initial state, and turns to the log after
// its end.
func (r *registration) replaySome() {
	for range burst {
		p := r.replay.Load()
		if p == nil || p.left() == 0 {
			r.replay.Store(nil)
			return
		}
		if r.halted() {
			return
		}
		r.hand(pair{new: p.take()}, header{Added, flagInitial}, nil)
	}
}

// deliverSome delivers the next events of the log, up to a position. Those that
// were taken out of it before come first.
func (r *registration) deliverSome(limit uint64) bool {
	t := r.taken.Load()
	if t == nil || t.next == t.n {
		if t = r.take(limit); t == nil {
			return false
		}
	}
	defer r.note()
	for i, n := t.next, t.n; i < n && !r.core.halted.Load(); i++ {
		t := r.taken.Load()
		if t == nil { // stopped
			break
		}
		t.next = i + 1
		if h := t.headers[i]; h.needsKey() {
			key := t.key
			r.tell(event{t.pairs[i], h}, &key)
		} else { // nearly all
			r.receiver.receive(&t.pairs[i], h, nil)
		}
	}
	return true
}

// take takes the next few events out of the log, up to a position. It returns
// nil if there are none.
func (r *registration) take(limit uint64) *taken {
	r.mu.Lock()
	defer r.mu.Unlock()

	c := &r.cursor
	if r.position.Load() == noPosition || limit <= c.position() || c.i == c.segment.n.Load() && !c.advance() {
		return nil
	}
	n := min(c.segment.n.Load(), c.i+burst)
	if left := limit - c.position(); left < burst {
		n = min(n, c.i+uint32(left))
	}
	t := r.taken.Load()
	if t == nil {
		t = r.core.processor.room()
	}
	t.fill(c, n)
	r.taken.Store(t)
	return t
}

// note lets others see how far the goroutine is, and drops taken events that have
// all been told.
func (r *registration) note() {
	before := r.position.Load() // first: Stop lets go of it first
	t := r.taken.Load()
	if t == nil || before == noPosition || !r.position.CompareAndSwap(before, t.position()) { // stopped
		return
	}
	if t.next == t.n {
		t.empty()
	}
}

// giveBack returns the room of taken events to the pool once all of them have
// been told: the goroutine is about to sleep, or to end.
func (r *registration) giveBack() {
	if t := r.taken.Load(); t != nil && t.next == t.n && r.taken.CompareAndSwap(t, nil) {
		r.core.processor.spare.Put(t)
	}
}

// advance moves a cursor that has read all of its segment to the next. It
// returns false if there is none.
func (c *cursor) advance() bool {
	if int(c.i) < c.segment.size() {
		return false
	}
	next := c.segment.next.Load()
	if next == nil || next.n.Load() == 0 {
		return false
	}
	c.segment, c.i = next, 0
	return true
}

// deliverLatest delivers the first of the merged events.
func (r *registration) deliverLatest() bool {
	p := r.takeFirst()
	if p == nil {
		return false
	}
	if !r.ended.Load() {
		r.tell(p.event, &p.key)
	}
	return true
}

func (r *registration) takeFirst() *pending {
	r.mu.Lock()
	defer r.mu.Unlock()

	if r.position.Load() == noPosition {
		return nil
	}
	r.fold(r.core.processor.log.end.Load())
	return r.table.pop()
}

// foldLag merges for a handler that lags too far, up to a position.
func (r *registration) foldLag(end uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if position := r.position.Load(); position != noPosition && end-position > lagSegments*fullSegment {
		r.fold(end)
	}
}

// fold merges the log up to a position into the tables. The caller holds r.mu.
func (r *registration) fold(end uint64) {
	c := &r.cursor
	for c.position() < end {
		if c.i == c.segment.n.Load() {
			if !c.advance() {
				break
			}
			continue
		}
		table := &r.table
		if r.resyncing && c.position() >= r.at {
			table = &r.later
		}
		table.fold(c.segment.event(c.i), c.segment.note(c.i), c.position())
		c.i++
	}
	r.position.Store(c.position())
	if verify.On {
		r.table.check()
		r.later.check()
	}
}

// settle closes synced once everything up to the complete store was delivered.
func (r *registration) settle() {
	if r.isSynced || r.split || r.replay.Load() != nil {
		return
	}
	if passed := r.passed(); passed == noPosition || passed < r.core.processor.syncedAt.Load() {
		return
	}
	r.isSynced = true
	close(r.synced)
}

// passed returns the position in the log up to which everything was delivered,
// noPosition where nothing is.
func (r *registration) passed() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()

	if position, ok := r.table.oldest(); ok {
		return position
	}
	return r.position.Load()
}

// resync delivers all objects again, between two events of the log.
func (r *registration) resync(ctx context.Context) {
	if r.position.Load() == noPosition || r.replay.Load() != nil {
		return // the initial state is yet to come
	}
	r.mark()
	for !r.stopped(ctx) && r.deliver(r.at) {
	}
	for !r.stopped(ctx) && r.again() {
	}
	r.unmark()
}

// mark begins a resync: it takes a snapshot, and the position that belongs to it.
func (r *registration) mark() {
	r.core.writer.Freeze(func(tx *indexer.Tx) {
		r.mu.Lock()
		defer r.mu.Unlock()

		if r.position.Load() == noPosition { // stopped meanwhile
			return
		}
		r.resynced.Store(&replay{objects: tx.Snapshot()})
		r.resyncing, r.at = true, r.core.processor.log.end.Load()
	})
}

// unmark ends a resync: what has come since is next. Where the run ended in
// the middle of it, what came before is still to be told.
func (r *registration) unmark() {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.resynced.Store(nil)
	r.resyncing = false
	r.table.follow(&r.later)
}

// again delivers the next object of a resync. It returns false if there is none.
func (r *registration) again() (some bool) {
	p := r.resynced.Load()
	if p == nil || p.left() == 0 {
		return false
	}
	defer r.caught(&some)
	obj := p.take()
	r.hand(pair{obj, obj}, header{kind: Updated}, nil)
	return true
}
