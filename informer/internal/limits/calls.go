package limits

import (
	"fmt"
	"slices"
	"sync"
)

// MostWaiting is the largest number of errors that wait for a watch error handler, including the error in the
// current call. Further errors are dropped, because the handler hangs or cannot keep up.
const MostWaiting = 1000

// Calls calls a watch error handler. Calls do not overlap, because handlers written for client-go have no
// locks. A goroutine that reports an error during a call does not wait: the goroutine of that call passes the
// error on later. Safe for concurrent use.
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

// giveUp drops the waiting errors, because the handler has ended the goroutine that would pass them on.
func (c *Calls) giveUp() {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.dropped += len(c.waiting) - 1
	c.waiting = nil
}

// add adds an error to the waiting ones. If no call is in progress, it returns true, and the caller must make
// the call.
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

// next ends a call, and returns the error for the next call, or nil. The error has the number of errors
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
