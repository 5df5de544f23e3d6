package measure

import (
	"sync/atomic"
	"time"
)

// Clock gives an inspected informer the time since its measuring began.
type Clock struct {
	zero   time.Time    // just before the beginning, so that now never returns 0
	second atomic.Int64 // the time of the last tick
}

func newClock() *Clock { return &Clock{zero: time.Now().Add(-1)} }

// now returns the time since the measuring began, never 0.
func (c *Clock) now() time.Duration { return time.Since(c.zero) }

// tick returns the time, and keeps it for callers of lastTick, who cannot afford a call of now.
func (c *Clock) tick() time.Duration {
	now := c.now()
	c.second.Store(int64(now))
	return now
}

// lastTick returns the time of the last tick: the present time, within about a second.
func (c *Clock) lastTick() time.Duration { return time.Duration(c.second.Load()) }

// at converts a time since the beginning into a time of day.
func (c *Clock) at(now time.Duration) time.Time { return c.zero.Add(now) }
