package delivery

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// Run is the part of an informer's run that the handlers need.
type Run struct {
	Context  context.Context // ends with the run; set when the run begins
	Stopping atomic.Bool     // set when nothing more is applied or delivered
	Handlers sync.WaitGroup  // goroutines of the handlers, and other goroutines that the run waits for
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
