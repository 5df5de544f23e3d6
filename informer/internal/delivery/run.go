package delivery

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// Run is what the handlers know of an informer's run.
type Run struct {
	Context  context.Context // its end ends the run; set when the run begins
	Stopping atomic.Bool     // nothing is applied or delivered any more
	Handlers sync.WaitGroup  // the goroutines of the handlers, and others for which the run waits
	// Exit ends the run with an error.
	Exit func(error)
}

// Within calls work on a goroutine of the run. If a callback ends the goroutine, the run ends with
// [indexer.ErrExited].
func (r *Run) Within(work func()) {
	returned := false
	defer func() {
		if returned {
			return
		}
		if p := recover(); p != nil {
			panic(p)
		}
		r.Exit(indexer.ErrExited)
	}()
	work()
	returned = true
}
