package bench

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
)

// counter is a handler that counts its calls. It belongs to the goroutine that calls it.
type counter struct {
	tally
	want           tally
	added, updated chan struct{} // get a value with the last expected call

	each     func()            // called for each update, unless nil
	more     bool              // check accepts more updates than expected
	resync   time.Duration     // the handler's resync period
	delivery informer.Delivery // for tidemark's own informer

	_ [64]byte // keeps other counters off the cache line
}

// tally is the number of a handler's calls.
type tally struct{ adds, updates, deletes int }

func newCounter(want tally) *counter {
	return &counter{want: want, added: make(chan struct{}, 1), updated: make(chan struct{}, 1)}
}

func newCounters(n int, want tally) []*counter {
	all := make([]*counter, n)
	for i := range all {
		all[i] = newCounter(want)
	}
	return all
}

func (c *counter) add() {
	if c.adds++; c.adds == c.want.adds {
		c.added <- struct{}{}
	}
}

func (c *counter) update() {
	if c.each != nil {
		c.each()
	}
	if c.updates++; c.updates == c.want.updates {
		c.updated <- struct{}{}
	}
}

func (c *counter) delete() { c.deletes++ }

// check compares the calls with the expected calls, after the end of the informer.
func (c *counter) check(t testing.TB) {
	if c.more {
		c.updates = min(c.updates, c.want.updates)
	}
	require.Equal(t, c.want, c.tally, "the calls of a handler")
}

// shared returns a handler with client-go's interface.
func (c *counter) shared() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { c.add() },
		UpdateFunc: func(_, _ any) { c.update() },
		DeleteFunc: func(any) { c.delete() },
	}
}

// counting returns a handler with tidemark's interface.
func counting[T informer.Object](c *counter) informer.Handler[T] {
	return informer.Funcs[T]{
		Added:   func(T) { c.add() },
		Updated: func(_, _ T) { c.update() },
		Deleted: func(T) { c.delete() },
	}
}
