package informer

import (
	"context"
	"fmt"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/goexit"
)

// phase is the state of an informer's life. An error in the constructor's arguments keeps it in
// created.
//
//	            created         running       stopped
//	Run         running         ErrRunning    ErrStopped
//	Start       running         ErrRunning    running, in a new run
//	ctx ends                    stopped, when nothing moves any more
//	a handler   waits for Run   is told       ErrStopped; waits for the next run where Start
//	                                          began the last one
type phase uint8

const (
	created phase = iota
	running
	stopped
)

// begin starts a run: the first one or, if again is set, another one after the informer has
// stopped, with the same store and handlers.
func (c *core) begin(ctx context.Context, again bool) (*run, error) {
	c.mu.Lock()
	defer c.mu.Unlock()

	switch {
	case c.misuse != nil:
		return nil, c.misused()
	case c.phase == running:
		return nil, fmt.Errorf("informer %s: %w", c.options.Name, ErrRunning)
	case c.phase == stopped && !again:
		return nil, fmt.Errorf("informer %s: %w", c.options.Name, ErrStopped)
	case c.phase == stopped:
		c.run, c.batch = newRun(), nil
	}
	c.phase, c.again, c.run.ctx = running, again, ctx
	c.status.began()
	c.logTo(ctx)
	c.processor.start(c.run)
	c.measureIn(c.run)
	return c.run, nil
}

// Run is [Informer.Run].
func (c *core) Run(ctx context.Context) error {
	run, err := c.begin(ctx, false)
	if err != nil {
		return err
	}
	read := c.move(run)
	if c.options.Transform == nil {
		read() // without a transform, no function of a user can end this goroutine
	} else {
		go read()
	}
	<-run.returned
	return nil
}

// Start is [Informer.Start].
func (c *core) Start(ctx context.Context) (wait func(), err error) {
	run, err := c.begin(ctx, true)
	if err != nil {
		return nil, err
	}
	go c.move(run)()
	return func() { <-run.returned }, nil
}

// Begin is [Shared].Begin.
func (c *core) Begin(ctx context.Context, o RunOptions) error {
	run, err := c.begin(ctx, true)
	if err != nil {
		return err
	}
	run.options = o
	go c.move(run)()
	return nil
}

// move moves changes along until the run's context ends. The caller has to call read, which reads
// the first source.
func (c *core) move(run *run) (read func()) {
	tellEnd := func() {}
	if c.hooks.started != nil {
		tellEnd = c.hooks.started()
	}
	reading := c.newReading(run)
	read = reading.begin() // first: reading.wait waits for its goroutines
	go goexit.Outlive(func() {
		c.processLoop(run)
		run.stopping.Store(true)
		reading.wait()
		c.finish(run)
		call(run.options.Stopped)
		close(run.ownerTold)
		run.handlers.Wait()
		tellEnd()
		close(run.returned)
		call(run.options.Returned)
	})
	return read
}

func call(f func()) {
	if f != nil {
		f()
	}
}

// finish marks the end of a run, after everything has stopped moving. It drops an incomplete full
// state. The goroutines of handlers end by themselves, with the context.
func (c *core) finish(run *run) {
	for i := range c.parts {
		c.drop(&c.parts[i])
	}
	c.mu.Lock()
	defer c.mu.Unlock()

	c.phase = stopped
	c.status.stopped()
	close(run.stopped)
	run.queue.Close()
	c.processor.finish()
}

// join registers a handler. If the informer has stopped and may be started again, mayWait keeps the
// handler for the next run. Otherwise join refuses it, but waits first if another run may be about
// to begin.
func (c *core) join(r *registration, mayWait bool) error {
	for {
		ownerTold, err := c.tryJoin(r, mayWait)
		if err == nil || ownerTold == nil || closed(ownerTold) {
			return err
		}
		<-ownerTold
	}
}

// tryJoin is one attempt of join. If the informer has stopped, it returns a channel that is closed
// once the owner of the run was told, and has begun another run or not.
func (c *core) tryJoin(r *registration, mayWait bool) (ownerTold <-chan struct{}, err error) {
	// First: a stuck index function may hold up the store, and must hold up nobody else.
	c.writer.Freeze(func(tx *indexer.Tx) {
		c.mu.Lock()
		defer c.mu.Unlock()

		switch err = c.refuse(r, mayWait); {
		case err == nil:
			c.processor.add(tx, r)
		case c.phase == stopped:
			ownerTold = c.run.ownerTold
		}
	})
	return ownerTold, err
}

// refuse returns the reason why a handler cannot join, nil if it can. The caller holds mu.
func (c *core) refuse(r *registration, mayWait bool) error {
	switch {
	case c.misuse != nil:
		return c.misused()
	case r.owner != nil && r.owner.ended:
		return fmt.Errorf("informer %s: %w: handler %q was added through a view that has ended", c.options.Name, ErrStopped, r.options.Name)
	case c.phase == stopped && (!mayWait || !c.again):
		// In client-go's words, which programs look for.
		return fmt.Errorf("informer %s: %w: handler %q was not added to shared informer because it has stopped already", c.options.Name, ErrStopped, r.options.Name)
	}
	return nil
}

func (c *core) setTransform(transform func(any) (any, error)) error {
	c.mu.Lock()
	defer c.mu.Unlock()

	switch {
	case c.misuse != nil:
		return c.misused()
	case c.phase == running:
		return fmt.Errorf("informer %s: the transform is set before Run: %w", c.options.Name, ErrRunning)
	case c.phase == stopped:
		return fmt.Errorf("informer %s: %w", c.options.Name, ErrStopped)
	}
	c.options.Transform = transform
	return nil
}

// runContext returns the context of the run, or an idle one.
func (c *core) runContext() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.run.ctx
}

// done returns a channel that is closed when the informer has stopped.
func (c *core) done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.run.stopped
}
