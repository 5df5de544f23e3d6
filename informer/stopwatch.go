package informer

import (
	"sync"
	"time"

	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

// stuckAfter is the duration from which [HandlerMeasures].Calling shows a call.
const stuckAfter = time.Second

// stopwatch times the calls of a handler. The registration's goroutine makes the calls; read is safe
// for any goroutine, and does not wait for the handler.
type stopwatch struct {
	clock *clock

	mu      sync.Mutex
	since   time.Duration    // the clock's time at the beginning of the present call, 0 between two calls
	subject eventlog.Subject // the object of the present call, the first of several
	sampled uint64
	took    time.Duration
	slowest slowCalls
}

// call calls a handler, and times the call whether it returns or not.
func (w *stopwatch) call(to receiver, b *eventlog.Batch) {
	w.begin(b.Ahead())
	defer w.end()
	to.callHandler(b)
}

func (w *stopwatch) begin(subject eventlog.Subject) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.subject, w.since = subject, w.clock.now()
}

func (w *stopwatch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()

	took := w.clock.now() - w.since
	w.sampled++
	w.took += took
	w.slowest.add(w.subject, w.since, took)
	w.subject, w.since = eventlog.Subject{}, 0
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
