package informer

import (
	"context"
	"iter"

	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

// Batch holds changes that were ready together, for a handler of [Informer.HandleBatch]. It is
// valid only during the call.
type Batch[T any] struct {
	events   *eventlog.Batch
	nextCall int // how many of events, at their end, are for the next call
}

// Len returns the number of changes that All has not yielded yet.
func (b Batch[T]) Len() int { return b.events.Left() - b.nextCall }

// All yields the changes one after the other, and so records which change the handler is at: if
// the loop's body panics, only that change is lost, and the next batch begins with the change after
// it. When the handler returns, all changes count as handled, also those that All has not yielded.
func (b Batch[T]) All() iter.Seq[Change[T]] {
	return func(yield func(Change[T]) bool) {
		for b.Len() > 0 {
			p, h, _ := b.events.Next()
			if !yield(change[T](p, h)) {
				return
			}
		}
	}
}

// batchReceiver is the receiver of a function that takes batches.
type batchReceiver[T any] struct {
	handle func(Batch[T])
	n      int
}

// CallHandler calls the function with up to n events. b may hold more, since a delete and an add
// of a recreated object are taken together; they stay for the next call. When the function returns,
// CallHandler drops the events that it has not read. If the function fails, CallHandler drops them
// only if it has read none, since then the failing event is unknown.
func (r *batchReceiver[T]) CallHandler(b *eventlog.Batch) {
	before, later, returned := b.Left(), max(0, b.Left()-r.n), false
	defer func() {
		if returned || b.Left() == before {
			b.Skip(later)
		}
	}()
	r.handle(Batch[T]{b, later})
	returned = true
}

func (*batchReceiver[T]) Needs(h eventlog.Header) (old, now bool) { return changeNeeds(h) }

func (r *batchReceiver[T]) AtOnce() int                               { return r.n }
func (r *batchReceiver[T]) Name() string                              { return funcsName(r.handle) }
func (*batchReceiver[T]) Context(run context.Context) context.Context { return run }
