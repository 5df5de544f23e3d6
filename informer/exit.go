package informer

import "fmt"

// A user's function may end its goroutine (runtime.Goexit, as t.FailNow of a test does). On a goroutine
// of a run this ends the run, as the end of its context does, with an error that wraps [ErrExited]. A
// handler ends only its own registration, see [delivery.Reports].

// exitError returns the error because of which the run has ended by itself, or nil.
func (c *core) exitError() error {
	if err := c.exited.Load(); err != nil {
		return *err
	}
	return nil
}

// exit ends the run because of a user's function that has ended its goroutine, or because its share cannot be read. err
// says which; if it is nil, the function may have left its name with noteExit. The first one counts, and none after
// the run has stopped.
func (c *core) exit(err error) {
	if noted := c.exitNote.Swap(nil); err == nil && noted != nil {
		err = *noted
	}
	if err == nil {
		err = ErrExited
	}
	err = fmt.Errorf("informer %s: %w", c.options.Name, err)
	if !closed(c.stopped) && c.exited.CompareAndSwap(nil, &err) {
		c.status.exited(err)
		c.cancel()
	}
}

// noteExit stores the name of a user's function that has ended a goroutine. The goroutine may be the
// run's, or the user's own.
func (c *core) noteExit(err error) { c.exitNote.Store(&err) }
