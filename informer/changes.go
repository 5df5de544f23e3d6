package informer

import (
	"context"
	"iter"

	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

// Changes is [Informer.Handle] as a loop:
//
//	for c := range pods.Changes(ctx, informer.HandlerOptions{}) {
//
// The loop's body is the handler, on the loop's own goroutine: it is told the initial
// state first, and Run waits for it to return. The loop waits for the informer to run,
// and ends with the informer, or with ctx; break ends it, too. A panic of the body, or
// runtime.Goexit in it, is the caller's own. With [Every] what waits for a slow loop is
// bounded by nothing but memory.
//
// A loop ends at once where Handle would return an error, and Observe is told that: its
// options are wrong, say, or the informer has stopped and was not begun by Start.
func (i *Informer[T]) Changes(ctx context.Context, o HandlerOptions) iter.Seq[Change[T]] {
	return func(yield func(Change[T]) bool) {
		to := &loopReceiver[T]{yield: yield}
		r, err := i.core.newHandler(to, o, i.owner)
		if err == nil {
			r.runs = make(chan *run, 1)
			to.stop = r.Stop
			err = i.core.addHandler(r, true)
		}
		if err != nil {
			i.core.observe(err)
			return
		}
		defer context.AfterFunc(ctx, r.Stop)()
		r.deliverOneRun()
	}
}

// loopOnce delivers for one run, on the caller's goroutine.
func (r *registration) deliverOneRun() {
	defer r.endLoop()
	select {
	case run := <-r.runs:
		defer run.handlers.Done()
		defer r.processor.returned(r, run)
		tick, stop := r.ticker()
		defer stop()
		r.loop(run.ctx, run, tick)
	case <-r.stopping:
	}
}

// leaveLoop ends a registration, and gives back the run that it has not taken.
func (r *registration) endLoop() {
	r.Stop()
	select {
	case run := <-r.runs:
		r.processor.returned(r, run)
		run.handlers.Done()
	default:
	}
}

// loopReceiver delivers to the body of a loop.
type loopReceiver[T any] struct {
	oneByOne
	yield func(Change[T]) bool
	stop  func()
}

func (r *loopReceiver[T]) receive(b *eventlog.Batch) {
	if p, h, _ := b.Next(); !h.Is(eventlog.Unknown) && !r.yield(change[T](p, h)) {
		r.stop()
	}
}

func (*loopReceiver[T]) needs(h eventlog.Header) (old, now bool) { return changeNeeds(h) }

func (*loopReceiver[T]) name() string { return "loop" }
