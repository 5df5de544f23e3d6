package delivery

import (
	"time"

	"github.com/tidemark-k8s/tidemark/informer/internal/measure"
)

// Time starts to time the handlers' calls.
func (p *SharedProcessor) Time(epoch *measure.Epoch) { p.epoch.Store(epoch) }

// stopwatch returns the stopwatch of the handler's calls, which runs while the informer is inspected.
func (r *Registration) stopwatch() *measure.Stopwatch {
	if w := r.timing.Load(); w != nil {
		return w
	}
	w := measure.NewStopwatch(r.processor.epoch.Load())
	r.timing.Store(w)
	return w
}

// stopTiming ends the timing of a burst, even after a panic of the handler.
func (r *Registration) stopTiming() {
	if w := r.timing.Load(); w != nil {
		w.Stop()
	}
}

// Lag returns the age of the oldest undelivered event, zero if there is none.
func (r *Registration) Lag(m *measure.Inspection) time.Duration {
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

// Calls returns the measurements of the handler's calls, once they are timed.
func (r *Registration) Calls() measure.Calls {
	r.processor.mu.Lock()
	defer r.processor.mu.Unlock()

	switch w := r.timing.Load(); {
	case w != nil:
		return w.Read()
	case r.delivers():
		return r.processor.epoch.Load().SinceBefore()
	}
	return measure.Calls{}
}

// eventBytes is the size of an event in the log.
const eventBytes = 34

// Bytes estimates the size of the undelivered events, without their objects.
func (p *SharedProcessor) Bytes() int64 {
	most := 0
	for _, r := range p.All() {
		events, initial := r.feed.pending()
		most = max(most, events-initial) // the initial state is the store's own
	}
	return int64(most) * eventBytes
}
