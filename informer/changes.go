package informer

import (
	"context"
	"iter"

	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

// Changes is [Informer.Handle] in the form of a loop:
//
//	for c := range pods.Changes(ctx, informer.HandlerOptions{}) {
//
// The loop's body is the handler, on the loop's own goroutine: it gets the initial state first, and
// Run waits for it to return. The loop waits until the informer runs. It ends when the informer
// stops, when ctx ends, or with break. A panic or runtime.Goexit in the body is not recovered: it
// unwinds the caller's goroutine. With [Every] delivery, the backlog of a slow loop is bounded only
// by memory.
//
// If Handle would return an error, the loop ends at once and Observe gets the error: if the options
// are invalid, for example, or the informer has stopped.
func (i *Informer[T]) Changes(ctx context.Context, o HandlerOptions) iter.Seq[Change[T]] {
	return func(yield func(Change[T]) bool) {
		to := &loopReceiver[T]{yield: yield}
		r, err := i.core.newHandler(to, o, i.owner)
		if err == nil {
			r.MakeLoop()
			to.stop = r.Stop
			err = i.core.addHandler(r)
		}
		if err != nil {
			i.core.observe(err)
			return
		}
		defer context.AfterFunc(ctx, r.Stop)()
		r.DeliverHere()
	}
}

// loopReceiver is the receiver of the body of a loop.
type loopReceiver[T any] struct {
	oneByOne
	yield func(Change[T]) bool
	stop  func()
}

func (r *loopReceiver[T]) CallHandler(b *eventlog.Batch) {
	if p, h, _ := b.Next(); !h.Is(eventlog.NotStored) && !r.yield(change[T](p, h)) {
		r.stop()
	}
}

func (*loopReceiver[T]) needs(h eventlog.Header) (old, now bool) { return changeNeeds(h) }

func (*loopReceiver[T]) name() string { return "loop" }
