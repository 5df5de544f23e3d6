package informer

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

const (
	// slowPace is the time from which each call of a handler is timed, which costs some
	// 50 ns, and fewEvents the burst up to which each is: its handler has slept before, and
	// to wake it costs more.
	slowPace  = time.Microsecond
	fewEvents = 4
	// quickShare says of how many calls that are quicker one is timed.
	quickShare = 8
	// stuckAfter is how long a call lasts until [HandlerMeasures].Calling tells of it.
	stuckAfter = time.Second
	// paceShare is how much of the pace each call makes up.
	paceShare = 8
)

// timing is how the calls of a burst are timed.
//
//	any --begin, the calls are slow or few--> each
//	any --begin, the calls are quick--> whole, then untimed for some bursts, then whole
//	whole, untimed --a second has passed--> each
type timing uint8

const (
	untimed timing = iota // others stand for them
	whole                 // all together
	each                  // one by one, and whose turn it is can be asked
)

// stopwatch times the calls of a handler. The registration's goroutine calls begin before
// a burst, look before a call where the interest says so, and end. Others may ask at any
// time, and wait for no call.
type stopwatch struct {
	clock    *clock
	interest *interest

	// The goroutine's own.
	timing timing
	left   int           // events that were to be told when the burst began
	owed   int           // how many quick calls pass before one is timed
	pace   time.Duration // what a call takes of late, 0 before the first

	// since is when the call, or the burst where its calls are not timed one by one, has
	// begun, as the clock's now; 0 for none.
	since atomic.Int64
	// passed says that a second has ended in the burst, and that the interest is higher for that.
	passed atomic.Bool

	mu      sync.Mutex
	subject eventlog.Subject // of the call, where each is timed
	sampled uint64
	took    time.Duration
	slowest slowCalls
}

// begin takes the time at the beginning of a burst. A handler that is told several events
// at once has each of its calls timed.
func (w *stopwatch) begin(b *eventlog.Batch, several bool) {
	w.left = b.Left()
	w.acknowledge()
	switch {
	case several || w.left <= fewEvents || w.pace == 0 || w.pace >= slowPace:
		w.timeEach()
	case w.owed > 0:
		w.timing, w.owed = untimed, w.owed-w.left
		w.since.Store(int64(w.clock.lately() + time.Second)) // it has begun by then
	default:
		w.timing, w.owed = whole, w.left*(quickShare-1)
		w.since.Store(int64(w.clock.now()))
	}
}

// timeEach makes the goroutine look before each call, until the end of the burst.
func (w *stopwatch) timeEach() {
	if w.timing != each {
		w.timing = each
		w.interest.Add(1)
	}
}

// pass is called each second. It makes the goroutine look before the next call, if it is
// in a burst.
func (w *stopwatch) pass() {
	if w.since.Load() != 0 && w.passed.CompareAndSwap(false, true) {
		w.interest.Add(1)
	}
}

// acknowledge tells whether a second has ended since it was called last.
func (w *stopwatch) acknowledge() (passed bool) {
	if passed = w.passed.Load(); passed {
		w.passed.Store(false)
		w.interest.Add(-1)
	}
	return passed
}

// look takes the time before a call. It tells whether a second has passed, so that others
// should see how far the handler is.
func (w *stopwatch) look(b *eventlog.Batch) (passed bool) {
	passed = w.acknowledge()
	if w.timing != each && !passed {
		return false
	}
	now := w.clock.now()
	w.mu.Lock()
	defer w.mu.Unlock()

	w.returned(b, now)
	w.timeEach()
	w.subject = b.Ahead()
	w.since.Store(int64(now))
	return passed
}

// end takes the time at the end of a burst, which is nil where the registration was
// stopped: nobody asks any more.
func (w *stopwatch) end(b *eventlog.Batch) {
	if passed := w.acknowledge(); b != nil && (passed || w.timing != untimed) {
		w.mu.Lock()
		w.returned(b, w.clock.now())
		w.subject = eventlog.Subject{}
		w.mu.Unlock()
	}
	if w.timing == each {
		w.interest.Add(-1)
	}
	w.timing = untimed
	w.since.Store(0)
}

// returned counts what was called since the time was taken last. The caller holds mu.
func (w *stopwatch) returned(b *eventlog.Batch, now time.Duration) {
	since := time.Duration(w.since.Load())
	took, calls := max(0, now-since), w.left-b.Left()
	switch {
	case since == 0 || w.timing != each && calls == 0: // none
		return
	case w.timing == each:
		calls = 1
		w.slowest.add(w.subject, since, took)
	case took >= stuckAfter: // the last one took nearly all of it: look is called after a second
		calls = 1
		w.slowest.add(b.Behind(), since, took)
	case w.timing == untimed:
		return
	}
	w.sampled += uint64(calls) //nolint:gosec // never negative
	w.took += took
	w.keepPace(took, calls)
}

// keepPace takes note of how long some calls took.
func (w *stopwatch) keepPace(took time.Duration, calls int) {
	each := max(1, took/time.Duration(calls))
	if weight := min(calls, paceShare); w.pace > 0 {
		each = w.pace + (each-w.pace)*time.Duration(weight)/paceShare
	}
	w.pace = max(1, each)
}

// read puts what was measured into the measures of a handler.
func (w *stopwatch) read(to *HandlerMeasures) {
	w.mu.Lock()
	defer w.mu.Unlock()

	now, since := w.clock.now(), time.Duration(w.since.Load())
	calls := w.slowest.of(now)
	if lasts := now - since; since > 0 && lasts >= stuckAfter {
		to.Calling = w.clock.at(since)
		calls.add(w.subject, since, lasts)
	}
	to.Sampled, to.Took = w.sampled, w.took
	for _, c := range calls {
		to.Slowest = append(to.Slowest, SlowCall{Key: c.key, At: w.clock.at(c.at), Took: c.took})
	}
}
