package informer

import (
	"cmp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

const (
	// slowPace is how long calls take where each of them is timed, which costs some 100 ns.
	slowPace = 4 * time.Microsecond
	// quickShare says of how many calls that are quicker one is timed.
	quickShare = 32
	// fewEvents are no burst to be timed as a whole.
	fewEvents = 4
	// stuckAfter is how long a call lasts until [HandlerMeasures].Calling tells of it.
	stuckAfter = time.Second
	// paceShare is of how many calls the pace is about the mean.
	paceShare = 8
)

// timing is how the calls of a burst are timed.
//
//	untimed --begin, the calls are slow, or it is time for one, and they are few--> each
//	untimed --begin, it is time for some quick ones--> whole
//	untimed, whole --a second has passed--> each
//	whole, each --end--> untimed
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

	// since is when the call has begun, or the burst that is timed as a whole, as the clock's
	// now; 0 for none. Of a call that is not timed the ticker says so, when that has lasted.
	since atomic.Int64
	// passed says that a second has ended in the burst, and that the interest is higher for
	// that. The goroutine acknowledges it.
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
	w.acknowledge() // it was of a burst before
	quick := w.pace > 0 && w.pace < slowPace && !several
	switch {
	case quick && w.owed > 0:
		w.owed -= w.left
		return
	case quick && w.left > fewEvents:
		w.timing = whole
		w.since.Store(int64(w.clock.now()))
	default:
		w.timeEach()
	}
	w.owed = w.left * (quickShare - 1)
}

// timeEach makes the goroutine look before each call, until the end of the burst.
func (w *stopwatch) timeEach() {
	if w.timing != each {
		w.timing = each
		w.interest.Add(1)
	}
}

// pass is called each second in which the goroutine is in a burst. It makes that look
// before the next call: where it has not for a second, it is in one call since.
func (w *stopwatch) pass(before time.Duration) {
	if w.passed.CompareAndSwap(false, true) {
		w.interest.Add(1)
		return
	}
	if w.since.CompareAndSwap(0, int64(before)) && !w.passed.Load() {
		w.since.CompareAndSwap(int64(before), 0) // it has returned meanwhile
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
	passed := w.acknowledge()
	if w.timing == untimed && !passed {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()

	if b != nil {
		w.returned(b, w.clock.now())
	}
	if w.timing == each {
		w.interest.Add(-1)
	}
	w.timing, w.subject = untimed, eventlog.Subject{}
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
	pace := took / time.Duration(calls)
	if weight := min(calls, paceShare); w.pace > 0 {
		pace = w.pace + (pace-w.pace)*time.Duration(weight)/paceShare
	}
	w.pace = max(1, pace)
}

// read puts what was measured into the measures of a handler. Where it is in a call that
// is not timed, the event in hand says of whom that is told.
func (w *stopwatch) read(to *HandlerMeasures, inHand eventlog.Subject) {
	w.mu.Lock()
	defer w.mu.Unlock()

	now, since := w.clock.now(), time.Duration(w.since.Load())
	calls := w.slowest.of(now)
	if lasts := now - since; since > 0 && lasts >= stuckAfter {
		to.Calling = w.clock.at(since)
		calls.add(cmp.Or(w.subject, inHand), since, lasts)
	}
	to.Sampled, to.Took = w.sampled, w.took
	for _, c := range calls {
		to.Slowest = append(to.Slowest, SlowCall{Key: c.key, At: w.clock.at(c.at), Took: c.took})
	}
}
