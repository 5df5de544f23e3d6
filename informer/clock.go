package informer

import "time"

// clock is what an inspected informer measures by: the time since the measuring began.
type clock struct {
	zero time.Time // just before that, so that now is never 0
}

func newClock() *clock { return &clock{time.Now().Add(-1)} }

// now returns the time since the measuring began, never 0.
func (c *clock) now() time.Duration { return time.Since(c.zero) }

// at returns the time of day of what now has returned.
func (c *clock) at(now time.Duration) time.Time { return c.zero.Add(now) }
