package reflector

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// conn is a stream or watch: first asked for, then open.
type conn struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	asked  time.Time
	// patience is how long the server may bring nothing that counts, lasts how
	// long a stream may take for its initial state.
	patience, lasts time.Duration

	watch  watch.Interface
	events <-chan watch.Event
	timer  *time.Timer
	// held is an event that was taken, and is to be returned next, if it has a type.
	held watch.Event
	// initial says that the initial state of a stream is not complete; quiet
	// is the time spent in it waiting for events since the last that counted.
	initial bool
	quiet   time.Duration
	count   int // the events brought since the watch began
	ended   inputKind
}

// dial opens the watch, and returns w. It runs in a goroutine of its own.
func (w *conn) dial(src Source, o metav1.ListOptions) (*conn, error) {
	opened, err := src.Watch(w.ctx, o)
	if err != nil {
		return nil, err
	}
	if opened == nil {
		return nil, fmt.Errorf("%w: nothing instead of a watch", ErrBadAnswer)
	}
	w.watch, w.events, w.timer = opened, opened.ResultChan(), time.NewTimer(w.patience)
	return w, nil
}

// next returns an event that is ready or, where it may wait, one that is to
// come. Where there is none, ended says why.
func (w *conn) next(wait bool) (e watch.Event, ok bool) {
	if w.held.Type != "" {
		e = w.held
		w.held = watch.Event{}
		return e, true
	}
	if wait && w.ctx.Err() != nil { // also where the source sends on
		w.ended = inStop
		return e, false
	}
	select {
	case e, ok = <-w.events:
		w.ended = inClosed
		return e, ok
	default:
	}
	if !wait {
		return e, false
	}
	return w.await()
}

func (w *conn) await() (e watch.Event, ok bool) {
	w.timer.Reset(w.patience - w.quiet)
	if w.initial {
		defer func(since time.Time) { w.quiet += time.Since(since) }(time.Now())
	}
	select {
	case e, ok = <-w.events:
		w.ended = inClosed
		return e, ok
	case <-w.timer.C:
		w.ended = inSilent
	case <-w.ctx.Done():
		w.ended = inStop
	}
	return e, false
}

// becomeWatch makes a watch of a stream whose initial state is complete.
func (w *conn) becomeWatch() {
	w.initial, w.quiet, w.count = false, 0, 0
}

// hangUp ends the watch. It waits a moment for the source to do so, and takes
// meanwhile what the source may be stuck with.
func (w *conn) hangUp() {
	w.cancel(nil)
	w.timer.Stop()
	_, _ = call(w.ctx, func() (struct{}, error) {
		w.watch.Stop()
		enough := time.After(grace)
		for {
			select {
			case _, ok := <-w.events:
				if ok {
					continue
				}
			case <-enough:
			}
			return struct{}{}, nil
		}
	}, func(struct{}) {})
}
