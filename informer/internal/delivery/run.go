package delivery

import (
	"context"
	"sync"
	"sync/atomic"
)

// Run is the run of an informer, as far as the handlers know of it.
type Run struct {
	Context  context.Context // its end ends the run; set when the run begins
	Stopping atomic.Bool     // nothing is applied or delivered any more
	Handlers sync.WaitGroup  // the goroutines of the handlers, and others for which the run waits
	// Exit ends the run because of a user's function that has ended its goroutine. A nil error stands
	// for a function that is not known.
	Exit func(error)
}

// Within calls work, on a goroutine of the run. If a user's function ends the goroutine, the run ends.
func (r *Run) Within(work func()) { guard(work, func() { r.Exit(nil) }) }

// guard calls work and, if a user's function ends the goroutine, exited.
func guard(work, exited func()) {
	returned := false
	defer func() {
		if returned {
			return
		}
		if p := recover(); p != nil {
			panic(p)
		}
		exited()
	}()
	work()
	returned = true
}
