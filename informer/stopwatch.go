package informer

import (
	"cmp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

const (
	// slowPace is the pace from which each call of a handler is timed: timing a call takes some
	// 100 ns.
	slowPace = 4 * time.Microsecond
	// quickShare: of quicker calls, one in quickShare is timed.
	quickShare = 32
	// fewEvents is the largest number of events in a burst that is not timed as a whole.
	fewEvents = 4
	// stuckAfter is the duration from which [HandlerMeasures].Calling shows a call.
	stuckAfter = time.Second
	// paceShare is the number of calls over which the pace is about the mean.
	paceShare = 8
)

// timing is the way in which the calls of a burst are timed.
//
//	untimed --begin, the calls are slow, or a few quick calls are due--> each
//	untimed --begin, many quick calls are due--> whole
//	untimed, whole --a second has passed--> each
//	whole, each --end--> untimed
type timing uint8

const (
	untimed timing = iota // not at all: other bursts are the sample
	whole                 // all calls together
	each                  // each call by itself, with the key of its object
)

// stopwatch times the calls of a handler. The registration's goroutine calls begin before a burst,
// end after it and, while the registration's interest is above zero, look before each call. The
// other methods are safe for any goroutine and do not wait for the handler.
type stopwatch struct {
	clock    *clock
	interest *interest

	// Only the registration's goroutine uses the fields below.
	timing timing
	left   int           // number of undelivered events at the beginning of the burst
	owed   int           // number of quick calls until the next timed one
	pace   time.Duration // the recent mean duration of a call, 0 before the first

	// since is the clock's time at the beginning of the timed call, or of the burst timed as a
	// whole; 0 for none. For a call that is not timed, the ticker sets it once the call has lasted
	// for a second.
	since atomic.Int64
	// passed is set by the ticker when a second has passed in the burst, and raises the interest by
	// one. The goroutine resets both.
	passed atomic.Bool

	mu      sync.Mutex
	subject eventlog.Subject // the subject of the call, if each call is timed
	sampled uint64
	took    time.Duration
	slowest slowCalls
}

// begin takes the time at the beginning of a burst. If the handler takes several events at once,
// each of its calls is timed.
func (w *stopwatch) begin(b *eventlog.Batch, several bool) {
	w.left = b.Left()
	w.acknowledge() // a second that passed in an earlier burst
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

// pass is called each second while the goroutine is in a burst. It makes the goroutine call look
// before the next call of the handler. If the goroutine has not done so since the previous pass, the
// same call has lasted since then, and pass records its beginning.
func (w *stopwatch) pass(before time.Duration) {
	if w.passed.CompareAndSwap(false, true) {
		w.interest.Add(1)
		return
	}
	if w.since.CompareAndSwap(0, int64(before)) && !w.passed.Load() {
		w.since.CompareAndSwap(int64(before), 0) // the call has returned meanwhile
	}
}

// acknowledge reports whether a second has passed since the last acknowledge.
func (w *stopwatch) acknowledge() (passed bool) {
	if passed = w.passed.Load(); passed {
		w.passed.Store(false)
		w.interest.Add(-1)
	}
	return passed
}

// look takes the time before a call. It reports whether a second has passed, so that the handler's
// progress should be published.
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

// end takes the time at the end of a burst. b is nil if the registration was stopped; then the last
// calls do not count.
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

// returned counts the calls since the time was last taken. The caller holds mu.
func (w *stopwatch) returned(b *eventlog.Batch, now time.Duration) {
	since := time.Duration(w.since.Load())
	took, calls := max(0, now-since), w.left-b.Left()
	switch {
	case since == 0 || w.timing != each && calls == 0: // no timed call
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

// keepPace updates the pace with the duration of some calls.
func (w *stopwatch) keepPace(took time.Duration, calls int) {
	pace := took / time.Duration(calls)
	if weight := min(calls, paceShare); w.pace > 0 {
		pace = w.pace + (pace-w.pace)*time.Duration(weight)/paceShare
	}
	w.pace = max(1, pace)
}

// read copies the measurements into a handler's measures. inHand is the subject of the present call
// if that call is not timed.
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
