package informer

import "fmt"

// exitError returns the error because of which the run has ended by itself, or nil.
func (c *core) exitError() error {
	if err := c.exited.Load(); err != nil {
		return *err
	}
	return nil
}

// exit ends the run: a callback has ended a goroutine of the run (D28), or a source or its share cannot be
// read. It keeps the first error, and ignores errors after the run has stopped.
func (c *core) exit(err error) {
	err = fmt.Errorf("informer %s: %w", c.options.Name, err)
	if !closed(c.stopped) && c.exited.CompareAndSwap(nil, &err) {
		c.status.exited(err)
		c.cancel()
	}
}
