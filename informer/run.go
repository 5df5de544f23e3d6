package informer

import (
	"context"
	"sync/atomic"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/informer/internal/delivery"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// run is the state of one run of an informer; the next run gets a new one.
type run struct {
	delivery.Run
	end          context.CancelFunc
	exited       atomic.Pointer[error]
	queue        *deltafifo.DeltaFIFO
	stopped      chan struct{} // closed when the informer has stopped; handlers may still be busy
	stopReported chan struct{} // closed when RunOptions.Stopped has returned
	returned     chan struct{} // closed when Run returns
	read         chan struct{} // closed when every source has been read in this run
	// sourcesRead is the number of sources read in this run. Only the processLoop uses it.
	sourcesRead int
	options     RunOptions
	newest      newest
	share       *reflector.Share // what the run reads; nil: everything
}

// RunOptions configure a run that [Shared].Start begins. Each function may be nil, and must return.
type RunOptions struct {
	// ReuseNothing makes the run trust no stored object: it reads all objects again, replaces the stored
	// ones, and delivers them to the handlers as updates. Until then the store stays as it is.
	ReuseNothing bool
	// Stopped is called when the informer has stopped and may be started again. exited is nil if the
	// context has ended, and wraps [ErrExited] if a user's function has ended its goroutine. A call
	// that adds a handler through client-go's API at that time waits until Stopped returns, and fails
	// unless another run has begun by then.
	Stopped func(exited error)
	// Returned is called when the run's last handler has returned, as wait returns then.
	Returned func()
}

func newRun() *run {
	return &run{
		Run:          delivery.Run{Context: context.Background()},
		queue:        deltafifo.New(0),
		stopped:      make(chan struct{}),
		stopReported: make(chan struct{}),
		returned:     make(chan struct{}),
		read:         make(chan struct{}),
	}
}
