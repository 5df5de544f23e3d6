package informer

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/tidemark-k8s/tidemark/deltafifo"
)

// run is one run of an informer: everything replaced together when the next run begins. Runs are
// compared by pointer, since a user's context may be of a type that does not compare.
type run struct {
	ctx       context.Context // ends the run; set when the run begins
	queue     *deltafifo.Queue
	stopping  atomic.Bool    // nothing more is applied, and handlers are told nothing more
	stopped   chan struct{}  // closed when the informer has stopped; handlers may still be busy
	ownerTold chan struct{}  // closed when the run's owner has been told that the informer stopped
	returned  chan struct{}  // closed when Run returns
	read      chan struct{}  // closed when every source has been read in this run
	handlers  sync.WaitGroup // the goroutines of the handlers, and of the measures
	// partsRead is the number of sources read in this run. Owned by the processLoop.
	partsRead int
	options   RunOptions
}

// RunOptions configure a run begun by [Shared].Begin. Each function may be nil.
type RunOptions struct {
	// Anew makes the run distrust the stored objects: it reads all objects again, replaces the
	// stored ones, and tells the handlers of each as updated. Until then the store stays as it is.
	Anew bool
	// Stopped is called when the informer has stopped and may be started again. A caller that adds
	// a handler through client-go's API meanwhile waits until Stopped returns, and is refused
	// unless another run has begun.
	Stopped func()
	// Returned is called when Run would return: the last handler has returned, too.
	Returned func()
}

func newRun() *run {
	return &run{
		ctx:       context.Background(),
		queue:     deltafifo.New(0),
		stopped:   make(chan struct{}),
		ownerTold: make(chan struct{}),
		returned:  make(chan struct{}),
		read:      make(chan struct{}),
	}
}
