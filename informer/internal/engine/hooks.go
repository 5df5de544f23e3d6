package engine

import "time"

// hooks connect the engine with an API that it does not know. All are set before the run, and each may be
// nil.
type hooks struct {
	// report passes an event on. If it returns true, it has reported the event, and the engine does not log
	// it.
	report  func(Event) (reported bool)
	metrics LoopMetrics
}

// LoopMetrics measure the processLoop.
type LoopMetrics interface {
	// Queued is called with the number of deltas waiting for the processLoop.
	Queued(deltas int)
	// Applied is called after each write section, with the store's version.
	Applied(took time.Duration, version string)
}
