package informer

import "sync/atomic"

// interest counts the parties interested in each call of a handler: waiters, and the stopwatch. The
// registration's goroutine checks it before each call, which costs next to nothing.
type interest struct{ atomic.Int32 }

func (i *interest) some() bool { return i.Load() > 0 }
