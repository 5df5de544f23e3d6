package measure

import (
	"sync/atomic"
	"time"
)

// Epoch measures time from the moment when an informer's measuring began.
type Epoch struct {
	zero   time.Time    // just before the beginning, so that now never returns 0
	second atomic.Int64 // the time of the last tick
}

func newEpoch() *Epoch { return &Epoch{zero: time.Now().Add(-1)} }

// now returns the time since the measuring began. It never returns 0.
func (e *Epoch) now() time.Duration { return time.Since(e.zero) }

// tick returns the time, and keeps it for lastTick, for callers that cannot afford a call of now.
func (e *Epoch) tick() time.Duration {
	now := e.now()
	e.second.Store(int64(now))
	return now
}

// lastTick returns the time of the last tick, which is the current time to within about a second.
func (e *Epoch) lastTick() time.Duration { return time.Duration(e.second.Load()) }

// at converts a time since the beginning into a time of day.
func (e *Epoch) at(now time.Duration) time.Time { return e.zero.Add(now) }
