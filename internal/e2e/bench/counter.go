package main

import (
	"fmt"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
)

// counter is a handler that does nothing but count. It belongs to the
// goroutine that delivers to it.
type counter struct {
	adds, updates, deletes int
	want                   tally
	added, updated         chan struct{} // are told when as many came as are wanted

	each     func()            // if set, is called at each update
	more     bool              // it may be told more updates than it wants
	resync   time.Duration     // how often it is told all again
	delivery informer.Delivery // tidemark's native face can do more than one

	_ [64]byte // keeps other counters off the cache line
}

// tally is how much a handler is to be told.
type tally struct{ adds, updates int }

func newCounter(want tally) *counter {
	return &counter{want: want, added: make(chan struct{}, 1), updated: make(chan struct{}, 1)}
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

// check tells whether the handler was told what it should be, when all is over.
func (c *counter) check() error {
	updates := c.updates
	if c.more {
		updates = min(updates, c.want.updates)
	}
	if (tally{c.adds, updates}) != c.want || c.deletes > 0 {
		return fmt.Errorf("a handler was told %d adds, %d updates and %d deletes instead of %d, %d and none",
			c.adds, c.updates, c.deletes, c.want.adds, c.want.updates)
	}
	return nil
}

// shared is the counter as client-go's users write handlers.
func (c *counter) shared() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { c.add() },
		UpdateFunc: func(_, _ any) { c.update() },
		DeleteFunc: func(any) { c.delete() },
	}
}

// counting is the counter as tidemark's users write handlers.
func counting[T informer.Object](c *counter) informer.Handler[T] {
	return informer.Funcs[T]{
		Added:   func(T) { c.add() },
		Updated: func(_, _ T) { c.update() },
		Deleted: func(T) { c.delete() },
	}
}
