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
	ctx      context.Context // that it lasts for; set when it begins
	queue    *deltafifo.Queue
	stopping atomic.Bool    // nothing more is applied, and handlers are told nothing more
	stopped  chan struct{}  // closed when the informer has stopped; handlers may still be busy
	returned chan struct{}  // closed when Run returns
	read     chan struct{}  // closed when every source has been read in this run
	handlers sync.WaitGroup // the handlers' goroutines
	// partsRead is how many sources have been read in this run. The processLoop's own.
	partsRead int
	// onStopped and onReturned are called after these channels are closed; each may be nil.
	onStopped, onReturned func()
}

func newRun() *run {
	return &run{
		ctx:      context.Background(),
		queue:    deltafifo.New(0),
		stopped:  make(chan struct{}),
		returned: make(chan struct{}),
		read:     make(chan struct{}),
	}
}
