package limits

import (
	"fmt"
	"slices"
	"sync"
)

// MostWaiting is the number of errors that wait for a watch error handler, with the one in its call.
// Further ones are dropped: the handler hangs, or cannot keep up.
const MostWaiting = 1000

// Calls calls a watch error handler, one call at a time, since handlers written for client-go have
// no locks. A goroutine that reports an error during a call does not wait: the goroutine of that call
// passes the error on afterwards. Safe for any goroutine.
type Calls struct {
	mu      sync.Mutex
	waiting []error // the first one is in the call
	dropped int     // since the last call began
}

// Call passes an error to the handler, now or after the call in progress.
func (c *Calls) Call(err error, handler func(error)) {
	if !c.add(err) {
		return
	}
	returned := false
	defer func() {
		if !returned {
			c.giveUp()
		}
	}()
	for ; err != nil; err = c.next() {
		handler(err)
	}
	returned = true
}

// giveUp drops the errors that wait, since the handler has ended the goroutine that would pass them on.
func (c *Calls) giveUp() {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.dropped += len(c.waiting) - 1
	c.waiting = nil
}

// add lets an error wait for its call. It returns true if no call is in progress: the caller has to make
// it.
func (c *Calls) add(err error) (alone bool) {
	c.mu.Lock()
	defer c.mu.Unlock()

	if len(c.waiting) == MostWaiting {
		c.dropped++
		return false
	}
	c.waiting = append(c.waiting, err)
	return len(c.waiting) == 1
}

// next ends a call, and returns the error of the next one, or nil. The error tells how many were
// dropped during the call.
func (c *Calls) next() (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.waiting = slices.Delete(c.waiting, 0, 1); len(c.waiting) == 0 {
		c.waiting = nil
		return nil
	}
	err = c.waiting[0]
	if c.dropped > 0 {
		err = fmt.Errorf("%w (%d further errors were dropped while the handler was busy)", err, c.dropped)
		c.dropped = 0
	}
	return err
}
