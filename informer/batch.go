package informer

import (
	"context"
	"iter"

	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

// Batch is some changes that were ready together, for a handler of
// [Informer.HandleBatch]. It is valid during the call.
type Batch[T any] struct {
	events   *eventlog.Batch
	nextCall int // how many of them are for the next call
}

// Len returns how many changes are left, at the most: those that All has yielded do
// not count.
func (b Batch[T]) Len() int { return b.events.Left() - b.nextCall }

// All yields the changes one after the other, and so tells whose turn it is: where the
// loop's body panics, or ends the goroutine, that costs the one change, and the rest
// comes again with the next batch. What is left when the handler returns counts as
// handled.
func (b Batch[T]) All() iter.Seq[Change[T]] {
	return func(yield func(Change[T]) bool) {
		for b.Len() > 0 {
			p, h, _ := b.events.Next()
			if !h.Is(eventlog.Unknown) && !yield(change[T](p, h)) {
				return
			}
		}
	}
}

// batchReceiver delivers to a function that takes batches.
type batchReceiver[T any] struct {
	handle func(Batch[T])
	n      int
}

// receive tells the function up to n events; there may be more, since of an object that
// was recreated both are taken. It drops what is left of those if the function returns
// or, where it has not said whose turn it is, fails.
func (r *batchReceiver[T]) receive(b *eventlog.Batch) {
	before, returned := b.Left(), false
	later := max(0, before-r.n)
	defer func() {
		if returned || b.Left() == before {
			b.Skip(later)
		}
	}()
	r.handle(Batch[T]{b, later})
	returned = true
}

func (*batchReceiver[T]) needs(h eventlog.Header) (old, now bool) { return changeNeeds(h) }

func (r *batchReceiver[T]) atOnce() int                               { return r.n }
func (r *batchReceiver[T]) name() string                              { return funcsName(r.handle) }
func (*batchReceiver[T]) context(run context.Context) context.Context { return run }
