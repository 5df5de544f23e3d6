package reflector

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"
)

// call runs f on a goroutine of its own and returns its result. If f has not returned within the
// grace after the end of ctx, call abandons it and returns the context's cause; late gets f's
// later result, unless that is an error. A panic of f becomes an error, and so does its end of the
// goroutine ([indexer.ErrExited]).
func call[R any](ctx context.Context, f func() (R, error), late func(R)) (R, error) {
	outcomes := make(chan outcome[R])
	abandoned := make(chan struct{})
	go func() {
		o := outcome[R]{}
		defer func() {
			select {
			case outcomes <- o:
			case <-abandoned:
				if o.err == nil {
					late(o.value)
				}
			}
		}()
		o.from(f)
	}()
	select {
	case o := <-outcomes:
		return o.value, o.err
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case o := <-outcomes:
		return o.value, o.err
	case <-timer.C:
		close(abandoned)
		return outcome[R]{}.value, context.Cause(ctx)
	}
}

type outcome[R any] struct {
	value R
	err   error
}

// from stores the result of f, also if f panics or ends its goroutine.
func (o *outcome[R]) from(f func() (R, error)) {
	returned := false
	defer func() {
		if returned {
			return
		}
		o.err = errSourceExited
		if value := recover(); value != nil {
			o.err = fmt.Errorf("%w: %v\n%s", ErrPanic, value, debug.Stack())
		}
	}()
	o.value, o.err = f()
	returned = true
}
