package informer

import (
	"time"

	"github.com/tidemark-k8s/tidemark/deltafifo"
)

// hooks connect the engine with an API that the engine does not know. All are set before the first
// run, and each may be nil.
type hooks struct {
	// report passes an event on. It returns true if it has reported the event, so that the engine
	// does not log it.
	report func(Event) (told bool)
	// beforeStore sees each batch before it is stored, on the goroutine that reads the source.
	beforeStore func(batch []deltafifo.Delta)
	// started is called at the start of a run, and ended at its end.
	started func() (ended func())
	metrics processLoopMetrics
}

// processLoopMetrics measure the processLoop.
type processLoopMetrics interface {
	// queued is called with the number of deltas waiting for the processLoop.
	queued(deltas int)
	// applied is called after each write section, with the store's version.
	applied(took time.Duration, version string)
}
