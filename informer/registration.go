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

// burst is how many events are delivered before the registration looks up.
const burst = 32

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
type registration[T any] struct {
	core     *core[T]
	receiver receiver[T]
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
	// initial state. Written last of what begin sets.
	position atomic.Uint64
	// replay is the initial state that is still to be delivered.
	replay   atomic.Pointer[replay[T]]
	isSynced bool // the goroutine's own

	// The goroutine's own: the objects that are being handed over, where the log
	// does not have them so, and the add that is owed after a delete where an
	// object was recreated.
	scratch pair[T]
	split   bool
	then    event[T]
	splits  bool // the face wants that

	// mu guards what follows where delivery is Latest, since the publisher
	// folds for a handler that lags. With Every, the tables are unused and the
	// cursor the goroutine's own.
	mu     sync.Mutex
	cursor cursor[T] // what comes next
	table  latest[T]
	// during a resync at a position, what lies behind that waits in later.
	resyncing bool
	at        uint64
	later     latest[T]
}

// noPosition is before the log.
const noPosition = ^uint64(0)

// replay is the initial state on its way to one handler.
type replay[T any] struct {
	objects indexer.Snapshot[T]
	next    atomic.Int64
}

func newRegistration[T any](c *core[T], to receiver[T], o HandlerOptions) *registration[T] {
	r := &registration[T]{
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

func (r *registration[T]) Name() string { return r.options.Name }

func (r *registration[T]) Synced() <-chan struct{} { return r.synced }

func (r *registration[T]) Done() <-chan struct{} {
	r.core.mu.Lock()
	defer r.core.mu.Unlock()

	return r.done
}

func (r *registration[T]) Stop() {
	r.stopOnce.Do(func() {
		r.ended.Store(true)
		close(r.stopping)
		r.core.leave(r)
	})
}

func (r *registration[T]) Backlog() int {
	left := 0
	if p := r.replay.Load(); p != nil {
		left = p.objects.Len() - int(p.next.Load())
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
func (r *registration[T]) begin(objects indexer.Snapshot[T], from cursor[T]) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.cursor = from
	r.replay.Store(&replay[T]{objects: objects})
	r.position.Store(from.position())
}

// letGo drops what a registration that was stopped holds on to.
func (r *registration[T]) letGo() {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.position.Store(noPosition)
	r.replay.Store(nil)
	r.cursor, r.table, r.later = cursor[T]{}, latest[T]{}, latest[T]{}
	r.then = event[T]{}
}

// idle tells whether there is nothing to deliver. The goroutine asks.
func (r *registration[T]) idle() bool {
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
func (r *registration[T]) run(ctx context.Context) {
	tick, stop := r.ticker()
	defer stop()
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

func (r *registration[T]) sleep(ctx context.Context, tick <-chan time.Time) {
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
func (r *registration[T]) ticker() (tick <-chan time.Time, stop func()) {
	if r.options.Resync <= 0 {
		return nil, func() {}
	}
	t := time.NewTicker(r.options.Resync)
	return t.C, t.Stop
}

func (r *registration[T]) stopped(ctx context.Context) bool {
	return r.ended.Load() || ctx.Err() != nil
}

// halted is stopped for the loops over events, and hears of the end of the run
// a moment later.
func (r *registration[T]) halted() bool {
	return r.ended.Load() || r.core.halted.Load()
}

// deliver hands over the next few events, up to a position of the log. It
// returns false if there are none. A panic of the handler costs the one change
// that it was told.
func (r *registration[T]) deliver(limit uint64) (some bool) {
	defer r.caught(&some)
	if r.position.Load() == noPosition {
		return false
	}
	if r.split {
		r.tellThen()
		return true
	}
	if p := r.replay.Load(); p != nil {
		r.replaySome(p)
		return true
	}
	if r.options.Delivery == Latest {
		return r.deliverLatest()
	}
	return r.deliverSome(limit)
}

// tell hands one event to the handler. Where an object was recreated, a
// native handler is told a delete and an add.
func (r *registration[T]) tell(e event[T], key *indexer.Key) {
	if !r.splits || !e.is(flagRecreated) {
		r.hand(e.pair, e.header, key)
		return
	}
	r.then, r.split = event[T]{pair[T]{new: e.new}, header{kind: Added}}, true
	r.hand(pair[T]{old: e.old}, header{Deleted, flagLost}, key)
	if !r.halted() {
		r.tellThen() // or else in the next run
	}
}

// tellThen tells the add that is owed after a delete.
func (r *registration[T]) tellThen() {
	then := r.then
	r.split, r.then = false, event[T]{}
	r.hand(then.pair, then.header, nil)
}

// hand gives the handler an event that is not in the log as it is, and holds on to
// no object of it, whatever the handler does.
func (r *registration[T]) hand(p pair[T], h header, key *indexer.Key) {
	defer func() { r.scratch = pair[T]{} }()
	r.scratch = p
	r.receiver.receive(&r.scratch, h, key)
}

// caught reports a panic of the handler as any controller's is reported,
// which ends the process unless utilruntime.ReallyCrash says otherwise.
func (r *registration[T]) caught(some *bool) {
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
func (r *registration[T]) replaySome(p *replay[T]) {
	n := p.objects.Len()
	for range burst {
		i := int(p.next.Load())
		if i == n {
			r.replay.Store(nil)
			return
		}
		if r.halted() {
			return
		}
		p.next.Store(int64(i + 1))
		r.hand(pair[T]{new: p.objects.At(i)}, header{Added, flagInitial}, nil)
	}
}

// deliverSome delivers a burst of the log, up to a position.
func (r *registration[T]) deliverSome(limit uint64) bool {
	defer r.note()
	c := &r.cursor
	n := c.segment.n.Load()
	if c.i == n {
		return c.advance()
	}
	if limit <= c.position() {
		return false
	}
	n = min(n, c.i+burst)
	if left := limit - c.position(); left < burst {
		n = min(n, c.i+uint32(left))
	}
	for c.i < n && !r.halted() {
		s, i := c.segment, c.i
		c.i++
		if h := s.headers[i]; h.is(flagLost | flagRecreated) {
			key := s.note(i).key
			r.tell(s.event(i), &key)
		} else { // nearly all
			r.receiver.receive(&s.pairs[i], h, nil)
		}
	}
	return true
}

// note lets others see how far the goroutine is.
func (r *registration[T]) note() { r.position.Store(r.cursor.position()) }

// advance moves a cursor that has read all of its segment to the next. It
// returns false if there is none.
func (c *cursor[T]) advance() bool {
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
func (r *registration[T]) deliverLatest() bool {
	p := r.takeFirst()
	if p == nil {
		return false
	}
	if !r.ended.Load() {
		r.tell(p.event, &p.key)
	}
	return true
}

func (r *registration[T]) takeFirst() *pending[T] {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.fold(r.core.processor.log.end.Load())
	return r.table.pop()
}

// foldLag merges for a handler that lags too far, up to a position.
func (r *registration[T]) foldLag(end uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if position := r.position.Load(); position != noPosition && end-position > lagSegments*fullSegment {
		r.fold(end)
	}
}

// fold merges the log up to a position into the tables. The caller holds r.mu.
func (r *registration[T]) fold(end uint64) {
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
	r.note()
	if verify.On {
		r.table.check()
		r.later.check()
	}
}

// settle closes synced once everything up to the complete store was delivered.
func (r *registration[T]) settle() {
	if r.isSynced || r.split || r.position.Load() == noPosition || r.replay.Load() != nil || r.passed() < r.core.processor.syncedAt.Load() {
		return
	}
	r.isSynced = true
	close(r.synced)
}

// passed returns the position in the log up to which everything was delivered.
func (r *registration[T]) passed() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()

	if position, ok := r.table.oldest(); ok {
		return position
	}
	return r.position.Load()
}

// resync delivers all objects again, between two events of the log.
func (r *registration[T]) resync(ctx context.Context) {
	if r.position.Load() == noPosition || r.replay.Load() != nil {
		return // the initial state is yet to come
	}
	objects := r.mark()
	for !r.stopped(ctx) && r.deliver(r.at) {
	}
	for obj := range objects.All() {
		if r.stopped(ctx) {
			break
		}
		r.again(obj)
	}
	r.unmark()
}

// mark begins a resync: it takes a snapshot, and the position that belongs to it.
func (r *registration[T]) mark() (objects indexer.Snapshot[T]) {
	r.core.writer.Freeze(func(tx *indexer.Tx[T]) {
		r.mu.Lock()
		defer r.mu.Unlock()

		objects = tx.Snapshot()
		r.resyncing, r.at = true, r.core.processor.log.end.Load()
	})
	return objects
}

// unmark ends a resync: what has come since is next. Where the run ended in
// the middle of it, what came before is still to be told.
func (r *registration[T]) unmark() {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.resyncing = false
	r.table.follow(&r.later)
}

// again delivers one object of a resync.
func (r *registration[T]) again(obj T) {
	var some bool
	defer r.caught(&some)
	r.hand(pair[T]{obj, obj}, header{kind: Updated}, nil)
}
