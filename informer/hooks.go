package informer

import (
	"time"

	"github.com/tidemark-k8s/tidemark/deltafifo"
)

// hooks connect the engine with an API that it does not know. All are set before the
// first run, and each may be nil.
type hooks struct {
	// report passes an event on, and returns true where somebody was told: the
	// engine does not log it then.
	report func(Event) (told bool)
	// inspect looks at a batch before it is stored, on the goroutine that reads the
	// source.
	inspect func(batch []deltafifo.Delta)
	// started follows the start of a run. What it returns is called at the end.
	started func() (ended func())
	meter   meter
}

// meter measures the processLoop.
type meter interface {
	// queued is called with the number of deltas that wait for the processLoop.
	queued(deltas int)
	// applied is called after each write section, with the version that the store is
	// at then.
	applied(took time.Duration, version string)
}
