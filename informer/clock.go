package informer

import (
	"sync/atomic"
	"time"
)

// clock is what an inspected informer measures by: the time since the measuring began.
type clock struct {
	zero   time.Time    // just before that, so that now is never 0
	second atomic.Int64 // what now was when the ticker last ticked
}

func newClock() *clock { return &clock{zero: time.Now().Add(-1)} }

// now returns the time since the measuring began, never 0.
func (c *clock) now() time.Duration { return time.Since(c.zero) }

// tick takes the time, for those who cannot afford to.
func (c *clock) tick() time.Duration {
	now := c.now()
	c.second.Store(int64(now))
	return now
}

// lastTick returns what now was when the ticker last ticked, within about a second.
func (c *clock) lastTick() time.Duration { return time.Duration(c.second.Load()) }

// at returns the time of day of what now has returned.
func (c *clock) at(now time.Duration) time.Time { return c.zero.Add(now) }
