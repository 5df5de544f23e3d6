package wire

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"
)

// Grace is how long a call may take to return after its context has ended, before it is abandoned.
const Grace = 50 * time.Millisecond

// Call runs f on a goroutine of its own and returns its result. If f has not returned within the
// [Grace] after the end of ctx, Call abandons it and returns the context's cause; late gets f's
// later result, unless that is an error. A panic of f becomes an error, and so does its end of the
// goroutine ([indexer.ErrExited]).
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

// From stores the result of f, also if f panics or ends its goroutine.
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
