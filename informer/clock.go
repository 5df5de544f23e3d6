package informer

import (
	"sync/atomic"
	"time"
)

// clock is what an inspected informer measures by: the time since the measuring began, and
// the same to within a second, which is cheaper to look at. Safe for any goroutine.
type clock struct {
	zero time.Time    // just before the measuring began, so that now is never 0
	tick atomic.Int64 // the last one, while the informer ran
}

func newClock() *clock {
	c := &clock{zero: time.Now().Add(-1)}
	c.tick.Store(1)
	return c
}

// now returns the time since the measuring began, never 0.
func (c *clock) now() time.Duration { return time.Since(c.zero) }

// at returns the time of day of what now has returned.
func (c *clock) at(now time.Duration) time.Time { return c.zero.Add(now) }

// ticks is called each second.
func (c *clock) ticks() (now time.Duration) {
	now = c.now()
	c.tick.Store(int64(now))
	return now
}

// lately returns the time of the last tick, never 0.
func (c *clock) lately() time.Duration { return time.Duration(c.tick.Load()) }
