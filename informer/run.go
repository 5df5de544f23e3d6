package informer

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/tidemark-k8s/tidemark/deltafifo"
)

// run is one run of an informer: all that is replaced together when the next one
// begins. Runs are told apart by their pointers: a user's context may be of a type
// that cannot be compared.
type run struct {
	ctx          context.Context // that it lasts for; set when it begins
	queue        *deltafifo.Queue
	stopping     atomic.Bool    // nothing more is applied, and handlers are told nothing more
	stopped      chan struct{}  // closed when the informer has stopped; handlers may still be busy
	stopReported chan struct{}  // closed when who runs it was told that it has stopped
	returned     chan struct{}  // closed when Run returns
	read         chan struct{}  // closed when every source has been read in this run
	handlers     sync.WaitGroup // the goroutines of the handlers, and of the measures
	// partsRead is how many sources have been read in this run. The processLoop's own.
	partsRead int
	options   RunOptions
}

// RunOptions say how a run goes that [Shared].Begin begins. Each function may be nil.
type RunOptions struct {
	// Anew makes the run trust nothing of what is stored: all objects are read again, take
	// the place of those that are there, and are told to the handlers as updated. Until
	// then the store stays as it is.
	Anew bool
	// Stopped is called when the informer has stopped and may be started again. Who adds a
	// handler through client-go's API meanwhile waits for its return, and is refused unless
	// another run has begun.
	Stopped func()
	// Returned is called when Run would return: the last handler has returned, too.
	Returned func()
}

func newRun() *run {
	return &run{
		ctx:          context.Background(),
		queue:        deltafifo.New(0),
		stopped:      make(chan struct{}),
		stopReported: make(chan struct{}),
		returned:     make(chan struct{}),
		read:         make(chan struct{}),
	}
}
