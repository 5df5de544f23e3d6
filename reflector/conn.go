package reflector

import (
	"context"
	"fmt"
	"io"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

// watchConn is a stream or watch, from its request to its end.
type watchConn struct {
	ctx         context.Context
	cancel      context.CancelCauseFunc
	requestedAt time.Time
	ask         func(context.Context) (wire.Answer, error)
	receive     func(context.Context, io.ReadCloser) *wire.Reception
	// patience is the longest time without an event; lasts is the longest time that a stream may
	// take for its initial state.
	patience, lasts time.Duration

	// Events arrive through the source's watch or, if the reflector decodes them, a reception.
	watch     watch.Interface
	events    <-chan watch.Event
	waiting   waiting
	reception *wire.Reception
	ready     []wire.Received // taken from either, not returned yet
	timer     *time.Timer
	asked     <-chan struct{} // receives when somebody waits for a bookmark; nil in an initial state
	// remaining is the time left for the initial state of a stream.
	remaining time.Duration
	// initial is true while the initial state of a stream is incomplete; quiet is the time spent
	// waiting since its last Added event.
	initial bool
	quiet   time.Duration
	// unordered is true during the Added events at the beginning of a watch without a version.
	unordered bool
	// heard is true if the current call of read has received foreign objects whose versions prove
	// no progress.
	heard bool
	count int       // events received since the watch began
	ended inputKind // why next returned nothing
	err   error     // the error, if ended is inFailed
}

// open sends the request and returns its result as an input.
func (w *watchConn) open() (*watchConn, input, error) {
	// Some proxies hold back the answer until the first event, so the answer may take as long as an
	// event.
	timer := time.AfterFunc(w.patience, func() { w.cancel(ErrSilent) })
	_, err := wire.Call(w.ctx, w.dial, func(w *watchConn) { _ = w.close() })
	inTime := timer.Stop()
	if inTime && err == nil {
		return w, input{kind: inOpened, slow: elapsed(w.requestedAt, slowOpening)}, nil
	}
	if err == nil { // the answer arrived just after the timer fired
		_ = w.close()
	}
	w.cancel(nil)
	if inTime {
		return w, input{kind: inFailed}, err
	}
	return w, input{kind: inSilent}, ErrSilent
}

// dial opens the watch and returns w. It runs on its own goroutine.
func (w *watchConn) dial() (*watchConn, error) {
	a, err := w.ask(w.ctx)
	switch {
	case err != nil:
		return nil, err
	case a.Body != nil:
		w.reception = w.receive(w.ctx, a.Body)
	case a.Watch != nil:
		w.watch, w.events = a.Watch, a.Watch.ResultChan()
	default:
		return nil, fmt.Errorf("%w: no watch and no error", ErrBadAnswer)
	}
	w.timer = time.NewTimer(w.patience)
	return w, nil
}

// batches returns the batches of the reception, or nil if there is no reception.
func (w *watchConn) batches() <-chan []wire.Received {
	if w.reception == nil {
		return nil
	}
	return w.reception.Batches
}

// unread puts an event back. The following call of next returns it.
func (w *watchConn) unread(a wire.Received) { w.ready = append([]wire.Received{a}, w.ready...) }

// next returns an event that is ready. If wait is true, next waits for one. If next returns no
// event, ended has the reason.
func (w *watchConn) next(wait bool) (a wire.Received, ok bool) {
	if len(w.ready) > 0 {
		return w.pop(), true
	}
	if wait && w.ctx.Err() != nil { // even if the source keeps sending
		w.ended = inStop
		return a, false
	}
	if e, ok, ready := w.waiting.next(w.events); ready {
		return w.event(e, ok)
	}
	select {
	case batch, ok := <-w.batches():
		return w.batch(batch, ok)
	default:
	}
	if !wait {
		return a, false
	}
	return w.await()
}

func (w *watchConn) await() (a wire.Received, ok bool) {
	w.timer.Reset(w.patience - w.quiet)
	if w.initial {
		w.timer.Reset(min(w.patience-w.quiet, w.remaining))
		defer func(since time.Time) { w.quiet += time.Since(since) }(time.Now())
	}
	select {
	case e, ok := <-w.events:
		return w.event(e, ok)
	case batch, ok := <-w.batches():
		return w.batch(batch, ok)
	case <-w.asked:
		w.ended = inAsked
	case <-w.timer.C:
		w.ended = inSilent
	case <-w.ctx.Done():
		w.ended = inStop
	}
	return a, false
}

// linger waits for an event while a Progress is held back.
func (w *watchConn) linger(hold time.Duration) (a wire.Received, ok bool) {
	w.timer.Reset(hold)
	select {
	case e, ok := <-w.events:
		return w.event(e, ok)
	case batch, ok := <-w.batches():
		return w.batch(batch, ok)
	case <-w.timer.C:
	case <-w.ctx.Done():
	}
	return a, false
}

func (w *watchConn) event(e watch.Event, ok bool) (wire.Received, bool) {
	w.ended = inClosed
	return wire.Received{Event: e}, ok
}

// batch returns the first event of a batch and keeps the others in ready.
func (w *watchConn) batch(batch []wire.Received, ok bool) (wire.Received, bool) {
	if ok {
		w.ready = batch
		return w.pop(), true
	}
	w.ended, w.err = inClosed, w.reception.Err
	if w.err != nil {
		w.ended = inFailed
	}
	return wire.Received{}, false
}

func (w *watchConn) pop() wire.Received {
	a := w.ready[0]
	w.ready[0] = wire.Received{} // release the object
	w.ready = w.ready[1:]
	return a
}

// becomeWatch turns a stream into a watch after its initial state.
func (w *watchConn) becomeWatch() {
	w.initial, w.quiet, w.count = false, 0, 0
}

// close ends the watch. It waits briefly for the source, and discards events meanwhile, because the
// source may be blocked sending one.
func (w *watchConn) close() error {
	w.cancel(nil)
	w.timer.Stop()
	if w.reception != nil {
		return w.reception.Close()
	}
	_, err := wire.Call(w.ctx, func() (struct{}, error) {
		w.watch.Stop()
		enough := time.After(wire.Grace)
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
	return err
}
