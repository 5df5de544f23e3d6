package wire

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"
)

// Grace is how long a call may take to return after the end of its context. Then it is abandoned.
const Grace = 50 * time.Millisecond

// Call runs f on its own goroutine and returns its result. If f has not returned within the [Grace]
// after the end of ctx, Call abandons f and returns the context's cause. late then gets f's later
// result, unless that is an error. If f panics or ends its goroutine ([indexer.ErrExited]), Call
// returns an error.
func Call[R any](ctx context.Context, f func() (R, error), late func(R)) (R, error) {
	outcomes := make(chan Outcome[R])
	abandoned := make(chan struct{})
	go func() {
		o := Outcome[R]{}
		defer func() {
			select {
			case outcomes <- o:
			case <-abandoned:
				if o.Err == nil {
					late(o.Value)
				}
			}
		}()
		o.From(f)
	}()
	select {
	case o := <-outcomes:
		return o.Value, o.Err
	case <-ctx.Done():
	}
	timer := time.NewTimer(Grace)
	defer timer.Stop()
	select {
	case o := <-outcomes:
		return o.Value, o.Err
	case <-timer.C:
		close(abandoned)
		return Outcome[R]{}.Value, context.Cause(ctx)
	}
}

// Outcome is the result of a call.
type Outcome[R any] struct {
	Value R
	Err   error
}

// From stores the result of f, even if f panics or ends its goroutine.
func (o *Outcome[R]) From(f func() (R, error)) {
	returned := false
	defer func() {
		if returned {
			return
		}
		o.Err = ErrSourceExited
		if value := recover(); value != nil {
			o.Err = fmt.Errorf("%w: %v\n%s", ErrPanic, value, debug.Stack())
		}
	}()
	o.Value, o.Err = f()
	returned = true
}
