package informer

import (
	"context"
	"iter"

	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

// Batch holds the changes that were ready for a call of a handler of [Informer.HandleBatch]. It is valid only
// during that call.
type Batch[T any] struct {
	events   *eventlog.Batch
	nextCall int // the number of events at the end that belong to the next call
}

// Len returns the number of changes that All has not yielded yet.
func (b Batch[T]) Len() int { return b.events.Left() - b.nextCall }

// All yields the changes one after the other, and records which change the handler has reached. If the loop's
// body panics, only that change is lost, and the next batch begins with the change after it. When the handler
// returns, all changes count as handled, even those that All has not yielded.
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

// CallHandler calls the function with up to n events. b may hold one more, because the delete and the add of
// a recreated object are taken together; it stays for the next call. When the function returns, CallHandler
// drops the events that the function has not read. If the function panics, CallHandler drops them only if the
// function has read none, because the failing event is then unknown.
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
