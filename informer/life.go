package informer

import (
	"context"
	"fmt"
	"slices"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/delivery"
)

// phase is the state of an informer's life. An informer with invalid constructor arguments stays
// in created. The table shows what calls and events do in each state:
//
//	            created         running       stopped
//	Run         running         ErrRunning    ErrStopped
//	ctx ends                    stopped, when nothing moves any more; also if a user's function
//	                            has ended a goroutine of the run
//	Handle      waits for Run   delivers      ErrStopped
type phase uint8

const (
	created phase = iota
	running
	stopped
)

// begin moves the informer to running.
func (c *core) begin(ctx context.Context) error {
	if err := c.misused(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()

	switch c.phase {
	case running:
		return fmt.Errorf("informer %s: %w", c.options.Name, ErrRunning)
	case stopped:
		return fmt.Errorf("informer %s: %w", c.options.Name, ErrStopped)
	}
	c.phase = running
	run := &c.run
	run.Context, c.cancel = context.WithCancel(ctx)
	c.status.began()
	c.logTo(ctx)
	c.processor.Start(run)
	c.beginInspection()
	return nil
}

// Run is [Informer.Run].
func (c *core) Run(ctx context.Context) error {
	wait, err := c.Start(ctx)
	if err != nil {
		return err
	}
	return wait()
}

// Start is [Shared].Start.
func (c *core) Start(ctx context.Context) (wait func() error, err error) {
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	c.startGoroutines()
	return c.wait, nil
}

// wait waits for the end of the run, and returns its error.
func (c *core) wait() error {
	<-c.returned
	return c.exitError()
}

// startGoroutines starts the goroutines of the informer, which last until its context ends.
func (c *core) startGoroutines() {
	detected := c.detector.start()
	reading := c.newReading()
	reading.begin()
	go func() {
		returned := false
		defer func() {
			if !returned { // a user's function is ending this goroutine
				go c.endRun(reading, detected)
			}
		}()
		c.run.Within(c.processLoop)
		returned = true
		c.endRun(reading, detected)
	}()
}

// endRun waits for the end of the informer's goroutines. It calls no function that may end its goroutine.
func (c *core) endRun(reading *reading, detected func()) {
	c.run.Stopping.Store(true)
	reading.wait()
	c.dropQueued()
	c.finish()
	c.run.Handlers.Wait()
	detected()
	c.cancel()
	close(c.returned)
}

// dropQueued drops the changes that the store does not have yet, and notifies the callers that wait for an answer
// among them. It is called when nothing moves any more.
func (c *core) dropQueued() {
	c.queue.Close()
	taken := slices.Clone(c.batch)                 // Drain clears it
	rest, _ := c.queue.Drain(context.Background()) // closed: it does not wait
	for _, d := range append(taken, rest...) {
		if d.Op == deltafifo.Answered {
			c.dropAnswer(&d)
		}
	}
}

// finish moves the informer to stopped when nothing moves any more. It aborts replacements
// that have not been committed. The goroutines of the handlers end by themselves, with the context.
func (c *core) finish() {
	for i := range c.states {
		c.abort(&c.states[i])
	}
	c.mu.Lock()
	defer c.mu.Unlock()

	c.phase = stopped
	c.status.stopped()
	close(c.stopped)
}

// addHandler registers a handler.
func (c *core) addHandler(r *delivery.Registration) (err error) {
	// The store is locked before mu: an index function may block the store, but must not block
	// other callers that lock mu.
	c.writer.Freeze(func(tx *indexer.Tx) {
		c.mu.Lock()
		defer c.mu.Unlock()

		if err = c.checkHandler(r); err == nil {
			c.processor.Add(tx, r)
		}
	})
	return err
}

// checkHandler returns an error if a handler cannot be added now. The caller holds mu.
func (c *core) checkHandler(r *delivery.Registration) error {
	by, _ := r.Options.Owner.(*owner)
	switch {
	case c.misuse != nil:
		return c.misused()
	case by != nil && by.ended:
		return fmt.Errorf("informer %s: %w: handler %q was added through a view that has ended", c.options.Name, ErrStopped, r.Name())
	case c.phase == stopped:
		// The text is client-go's: programs look for it.
		return fmt.Errorf("informer %s: %w: handler %q was not added to shared informer because it has stopped already", c.options.Name, ErrStopped, r.Name())
	}
	return nil
}

func (c *core) setTransform(transform func(any) (any, error)) error {
	var drops []string
	if ask := c.options.TransformDrops; ask != nil && transform != nil {
		if drops = ask(transform); drops != nil {
			transform = nil
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()

	switch {
	case c.misuse != nil:
		return c.misused()
	case c.phase == running:
		return fmt.Errorf("informer %s: SetTransform must be called before Run: %w", c.options.Name, ErrRunning)
	case c.phase == stopped:
		return fmt.Errorf("informer %s: %w", c.options.Name, ErrStopped)
	}
	c.options.Transform, c.drops = transform, drops
	return nil
}

// runContext returns the context of the run, or context.Background before it.
func (c *core) runContext() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.run.Context
}
