package informer

import (
	"context"
	"fmt"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/delivery"
)

// phase is the state of an informer's life. An informer with invalid constructor arguments stays
// in created. The table shows what calls and events do in each state:
//
//	            created         running       stopped
//	Run         running         ErrRunning    ErrStopped
//	Start       running         ErrRunning    running, in a new run
//	ctx ends                    stopped, when nothing moves any more; also if a user's function
//	                            has ended a goroutine of the run
//	Handle      waits for Run   delivers      ErrStopped; if Start began the last run, waits for
//	                                          the next run (of client-go's API: a borrower's handler)
//
// After retire no handler waits for a run, but for those of client-go's API in created.
type phase uint8

const (
	created phase = iota
	running
	stopped
)

func (c *core) newRun() *run {
	r := newRun()
	r.Exit = func(err error) { c.exit(r, err) }
	return r
}

// begin moves the informer to running. If restartable is set, the informer may have stopped
// before: it keeps its store and its handlers, and gets a new run.
func (c *core) begin(ctx context.Context, restartable bool) (*run, error) {
	if err := c.misused(); err != nil {
		return nil, err
	}
	share, unusable := c.askShare() // before mu is locked: an Assignment is the user's
	c.mu.Lock()
	defer c.mu.Unlock()

	switch {
	case c.phase == running:
		return nil, fmt.Errorf("informer %s: %w", c.options.Name, ErrRunning)
	case c.phase == stopped && !restartable:
		return nil, fmt.Errorf("informer %s: %w", c.options.Name, ErrStopped)
	case c.phase == stopped:
		c.foreignBefore = c.shardStatus().Foreign
		c.run, c.batch = c.newRun(), nil
	}
	c.phase, c.restartable = running, restartable
	c.run.Context, c.run.end = context.WithCancel(ctx)
	c.run.share = share
	c.status.began()
	c.logTo(ctx)
	c.processor.Start(&c.run.Run)
	c.inspectIn(c.run)
	if unusable != nil {
		c.exit(c.run, unusable)
	}
	return c.run, nil
}

// Run is [Informer.Run].
func (c *core) Run(ctx context.Context) error {
	run, err := c.begin(ctx, false)
	if err != nil {
		return err
	}
	c.startRun(run)
	return run.wait()
}

// Start is [Shared].Start.
func (c *core) Start(ctx context.Context, o RunOptions) (wait func() error, err error) {
	run, err := c.begin(ctx, true)
	if err != nil {
		return nil, err
	}
	run.options = o
	c.startRun(run)
	return run.wait, nil
}

// startRun starts the goroutines of a run, which last until its context ends.
func (c *core) startRun(run *run) {
	detected := c.detector.start()
	reading := c.newReading(run)
	reading.begin()
	go func() {
		returned := false
		defer func() {
			if !returned { // a user's function is ending this goroutine
				go c.endRun(run, reading, detected)
			}
		}()
		run.Within(func() { c.processLoop(run) })
		returned = true
		c.endRun(run, reading, detected)
	}()
}

// endRun waits for the end of a run's goroutines. It calls no function that may end its goroutine.
func (c *core) endRun(run *run, reading *reading, detected func()) {
	run.Stopping.Store(true)
	reading.wait()
	reading.noteDropped()
	c.finish(run)
	if stopped := run.options.Stopped; stopped != nil {
		stopped(run.exitError())
	}
	close(run.stopReported)
	run.Handlers.Wait()
	detected()
	run.end()
	close(run.returned)
	callIfSet(run.options.Returned)
}

func callIfSet(f func()) {
	if f != nil {
		f()
	}
}

// finish moves the informer to stopped when nothing of a run moves any more. It aborts replacements
// that have not been committed. The goroutines of the handlers end by themselves, with the context.
func (c *core) finish(run *run) {
	for i := range c.states {
		c.abort(&c.states[i])
	}
	c.mu.Lock()
	defer c.mu.Unlock()

	c.phase = stopped
	c.status.stopped()
	close(run.stopped)
	run.queue.Close()
	c.processor.Finish()
}

// addHandler registers a handler. If the informer has stopped and may be started again, a handler
// with mayWait set waits for the next run. Without mayWait, addHandler returns ErrStopped, unless
// the next run begins at once, before RunOptions.Stopped has returned.
func (c *core) addHandler(r *delivery.Registration, mayWait bool) error {
	for {
		stopReported, err := c.tryAddHandler(r, mayWait)
		if err == nil || stopReported == nil || closed(stopReported) {
			return err
		}
		<-stopReported
	}
}

// tryAddHandler is addHandler without waiting. If it fails because the informer has stopped, it
// returns the run's stopReported channel: once that is closed, the next run has begun, or will not
// begin at once.
func (c *core) tryAddHandler(r *delivery.Registration, mayWait bool) (stopReported <-chan struct{}, err error) {
	// The store is locked before mu: an index function may block the store, but must not block
	// other callers that lock mu.
	c.writer.Freeze(func(tx *indexer.Tx) {
		c.mu.Lock()
		defer c.mu.Unlock()

		switch err = c.checkHandler(r, mayWait); {
		case err == nil:
			c.processor.Add(tx, r)
		case c.phase == stopped:
			stopReported = c.run.stopReported
		}
	})
	return stopReported, err
}

// checkHandler returns an error if a handler cannot be added now. The caller holds mu.
func (c *core) checkHandler(r *delivery.Registration, mayWait bool) error {
	by, _ := r.Options.Owner.(*owner)
	switch {
	case c.misuse != nil:
		return c.misused()
	case by != nil && by.ended:
		return fmt.Errorf("informer %s: %w: handler %q was added through a view that has ended", c.options.Name, ErrStopped, r.Name())
	case c.phase == stopped && !mayWait, c.phase != running && mayWait && !c.restartable:
		// The text is client-go's: programs look for it.
		return fmt.Errorf("informer %s: %w: handler %q was not added to shared informer because it has stopped already", c.options.Name, ErrStopped, r.Name())
	}
	return nil
}

// retire ends the waiting for further runs.
func (c *core) retire() {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.restartable = false
}

func (c *core) setTransform(transform func(any) (any, error)) error {
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
	c.options.Transform = transform
	return nil
}

// runContext returns the context of the current or last run, or context.Background before the
// first run.
func (c *core) runContext() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.run.Context
}

// done returns a channel that is closed when the informer has stopped.
func (c *core) done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.run.stopped
}
