package informer

import (
	"sync"
	"time"

	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

// stuckAfter is the duration from which [HandlerMeasures].Calling shows a call.
const stuckAfter = time.Second

// stopwatch times the calls of a handler. The end of a call is the beginning of the next one of its
// burst, so that a call takes one reading of the clock. The registration's goroutine calls next and
// stop; read is safe for any goroutine, and does not wait for the handler.
type stopwatch struct {
	clock *clock
	seen  time.Duration // when next last returned true

	mu      sync.Mutex
	since   time.Duration    // the clock's time at the beginning of the present call, 0 between two bursts
	subject eventlog.Subject // the object of the present call, the first of several
	sampled uint64
	took    time.Duration
	slowest slowCalls
}

// next begins a call, and ends the one before it. It returns true once a second: the handler's progress
// is to be published.
func (w *stopwatch) next(subject eventlog.Subject) (secondPassed bool) {
	now := w.clock.now()
	w.turn(now, subject, now)
	if now-w.seen < time.Second {
		return false
	}
	w.seen = now
	return true
}

// stop ends the last call of a burst.
func (w *stopwatch) stop() { w.turn(w.clock.now(), eventlog.Subject{}, 0) }

// turn ends the present call, if there is one. The call of a subject follows, or none if since is 0.
func (w *stopwatch) turn(now time.Duration, subject eventlog.Subject, since time.Duration) {
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

// read copies the measurements into a handler's measures.
func (w *stopwatch) read(to *HandlerMeasures) {
	w.mu.Lock()
	defer w.mu.Unlock()

	now := w.clock.now()
	calls := w.slowest.of(now)
	if lasts := now - w.since; w.since > 0 && lasts >= stuckAfter {
		to.Calling = w.clock.at(w.since)
		calls.add(w.subject, w.since, lasts)
	}
	to.Sampled, to.Took = w.sampled, w.took
	for _, c := range calls {
		to.Slowest = append(to.Slowest, SlowCall{Key: c.key, At: w.clock.at(c.at), Took: c.took})
	}
}
