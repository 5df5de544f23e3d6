package measure

import (
	"slices"
	"sync"
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

// stuckAfter is the duration from which [Calls].Calling shows a call.
const stuckAfter = time.Second

// Calls are the measurements of a handler's calls.
type Calls struct {
	Sampled uint64 // number of calls that have returned
	Took    time.Duration
	Calling time.Time  // when the current call began, if it has lasted at least a second
	Slowest []SlowCall // the current call if Calling is set, then the slowest first
}

// SlowCall is a slow call of a handler.
type SlowCall struct {
	Key  indexer.Key // of the handled object, or of the first of several
	At   time.Time
	Took time.Duration // so far, if the call has not returned
}

// Stopwatch times the calls of a handler. In a burst, the time at which a call begins is also the end of the
// previous call, so each call needs one reading of the clock. The goroutine that makes the calls calls Next
// and Stop. Any goroutine may call Read, which does not wait for the handler.
type Stopwatch struct {
	epoch *Epoch
	seen  time.Duration // when Next last returned true

	mu      sync.Mutex
	since   time.Duration    // when the current call began; 0 between two bursts
	subject eventlog.Subject // the object of the current call, or the first of several
	sampled uint64
	took    time.Duration
	slowest slowCalls
}

// NewStopwatch returns the stopwatch of a handler.
func NewStopwatch(epoch *Epoch) *Stopwatch { return &Stopwatch{epoch: epoch} }

// Next begins a call, and ends the previous one. Once a second it returns true, so that the caller publishes
// the handler's progress.
func (w *Stopwatch) Next(subject eventlog.Subject) (secondPassed bool) {
	now := w.epoch.now()
	w.turn(now, subject, now)
	if now-w.seen < time.Second {
		return false
	}
	w.seen = now
	return true
}

// Stop ends the last call of a burst.
func (w *Stopwatch) Stop() { w.turn(w.epoch.now(), eventlog.Subject{}, 0) }

// turn ends the current call, if there is one, and begins the call for a subject. If since is 0, no call
// begins.
func (w *Stopwatch) turn(now time.Duration, subject eventlog.Subject, since time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()

	if w.since > 0 {
		took := now - w.since
		w.sampled++
		w.took += took
		w.slowest.add(w.subject, w.since, took)
	}
	w.subject, w.since = subject, since
}

// Read returns the measurements.
func (w *Stopwatch) Read() Calls {
	w.mu.Lock()
	defer w.mu.Unlock()

	c, now := Calls{Sampled: w.sampled, Took: w.took}, w.epoch.now()
	if lasts := now - w.since; w.since > 0 && lasts >= stuckAfter {
		c.Calling = w.epoch.at(w.since)
		c.Slowest = append(c.Slowest, SlowCall{Key: w.subject.Key(), At: c.Calling, Took: lasts})
	}
	for _, s := range w.slowest.of(now) {
		c.Slowest = append(c.Slowest, SlowCall{Key: s.key, At: w.epoch.at(s.at), Took: s.took})
	}
	c.Slowest = c.Slowest[:min(len(c.Slowest), MostSlow)]
	return c
}

// SinceBefore returns the measurements of a handler whose current call began before the measuring.
func (e *Epoch) SinceBefore() (calls Calls) {
	if lasts := e.now(); lasts >= stuckAfter {
		calls.Calling = e.at(0)
		calls.Slowest = []SlowCall{{At: calls.Calling, Took: lasts}}
	}
	return calls
}

const (
	// MostSlow is the largest number of slow calls kept for a handler.
	MostSlow = 5
	// KeepFor is how long slow calls are kept, and the duration of a history.
	KeepFor = 15 * time.Minute
)

// slowCalls are the slowest calls of a handler, the slowest first.
type slowCalls []slowCall

type slowCall struct {
	key      indexer.Key
	at, took time.Duration
}

// add adds a call if it is one of the slowest. It drops old calls first.
func (s *slowCalls) add(subject eventlog.Subject, at, took time.Duration) {
	s.forget(at + took)
	calls := *s
	if len(calls) == MostSlow {
		if took <= calls[MostSlow-1].took {
			return
		}
		calls = calls[:MostSlow-1]
	}
	i := 0
	for i < len(calls) && calls[i].took >= took {
		i++
	}
	*s = slices.Insert(calls, i, slowCall{subject.Key(), at, took})
}

// forget drops the old calls.
func (s *slowCalls) forget(now time.Duration) {
	*s = slices.DeleteFunc(*s, func(c slowCall) bool { return now-c.at > KeepFor })
}

// of returns a copy of the calls that are not too old at a time.
func (s slowCalls) of(now time.Duration) slowCalls {
	calls := slices.Clone(s)
	calls.forget(now)
	return calls
}
