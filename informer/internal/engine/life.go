package engine

import (
	"context"
	"fmt"

	"github.com/tidemark-k8s/tidemark/deltafifo"
)

// phase is the state of an informer's life. With invalid constructor arguments, an informer stays in
// created. The table shows what calls and events do in each state:
//
//	            created         running       stopped
//	Run         running         ErrRunning    ErrStopped
//	ctx ends                    stopped, once nothing is read or applied any more; also if a callback
//	                            has ended a goroutine of the run
//	Handle      waits for Run   delivers      ErrStopped
type phase uint8

const (
	created phase = iota
	running
	stopped
)

// begin moves the informer to running.
func (c *Core) begin(ctx context.Context) error {
	if err := c.Misused(); err != nil {
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

// Run runs the informer until ctx ends, and waits for its goroutines. It returns ErrRunning or ErrStopped if
// the informer has run before, and ErrExited if a callback has ended a goroutine of the run.
func (c *Core) Run(ctx context.Context) error {
	wait, err := c.Start(ctx)
	if err != nil {
		return err
	}
	return wait()
}

// Start is Run in the background: wait returns when Run would, with its error.
func (c *Core) Start(ctx context.Context) (wait func() error, err error) {
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	c.startGoroutines()
	return c.wait, nil
}

// wait waits until Run would return, and returns its error.
func (c *Core) wait() error {
	<-c.returned
	return c.exitError()
}

// startGoroutines starts the goroutines of the informer.
func (c *Core) startGoroutines() {
	detected := c.detector.start()
	reading := c.newReading()
	reading.begin()
	go func() {
		returned := false
		defer func() {
			if !returned { // a callback is ending this goroutine
				go c.endRun(reading, detected)
			}
		}()
		c.run.Within(c.processLoop)
		returned = true
		c.endRun(reading, detected)
	}()
}

// endRun waits for the informer's goroutines. It calls no function that may end its own goroutine.
func (c *Core) endRun(reading *reading, detected func()) {
	c.run.Stopping.Store(true)
	reading.wait()
	c.dropQueued()
	c.finish()
	c.run.Handlers.Wait()
	detected()
	c.cancel()
	close(c.returned)
}

// dropQueued drops the changes that the store does not have yet, and releases the writers that wait for an
// answer among them. The sources and the processLoop have ended.
func (c *Core) dropQueued() {
	c.queue.Close()
	var err error
	for err == nil {
		for i := range c.batch {
			if d := &c.batch[i]; d.Op == deltafifo.Answered {
				c.dropAnswer(d)
			}
		}
		c.batch, err = c.queue.Drain(context.Background()) // closed: it does not wait
	}
}

// finish moves the informer to stopped, and aborts replacements that have not been committed. The sources and
// the processLoop have ended. The goroutines of the handlers end by themselves, with the context.
func (c *Core) finish() {
	for i := range c.states {
		c.abort(&c.states[i])
	}
	c.mu.Lock()
	defer c.mu.Unlock()

	c.phase = stopped
	c.status.stopped()
	close(c.stopped)
}

// BeforeRun calls f unless the informer has started, and keeps it from starting meanwhile. Otherwise it
// returns ErrStopped, or an ErrRunning that names what must be called before Run.
func (c *Core) BeforeRun(what string, f func()) error {
	c.mu.Lock()
	defer c.mu.Unlock()

	switch c.phase {
	case running:
		return fmt.Errorf("informer %s: %s must be called before Run: %w", c.options.Name, what, ErrRunning)
	case stopped:
		return fmt.Errorf("informer %s: %w", c.options.Name, ErrStopped)
	}
	f()
	return nil
}

// SetTransform sets the transform; nil removes it. It must be called before Run.
func (c *Core) SetTransform(transform func(any) (any, error)) error {
	var drops []string
	if ask := c.options.TransformDrops; ask != nil && transform != nil {
		if drops = ask(transform); drops != nil {
			transform = nil
		}
	}
	if err := c.Misused(); err != nil {
		return err
	}
	return c.BeforeRun("SetTransform", func() { c.options.Transform, c.drops = transform, drops })
}

// Began reports whether the informer has started.
func (c *Core) Began() bool {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.phase != created
}

// RunContext returns the context of the run, or context.Background before it.
func (c *Core) RunContext() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.run.Context
}

// exitError returns the error that has ended the run, or nil.
func (c *Core) exitError() error {
	if err := c.exited.Load(); err != nil {
		return *err
	}
	return nil
}

// exit ends the run with an error: a callback has ended a goroutine of the run (D28), or a source or its
// share cannot be read. exit keeps the first error, and ignores errors after the run has stopped.
func (c *Core) exit(err error) {
	err = fmt.Errorf("informer %s: %w", c.options.Name, err)
	if !closed(c.stopped) && c.exited.CompareAndSwap(nil, &err) {
		c.status.exited(err)
		c.cancel()
	}
}
