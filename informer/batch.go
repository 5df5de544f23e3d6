package informer

import (
	"context"
	"iter"

	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

// Batch holds changes delivered together to a handler of [Informer.HandleBatch]. It is valid during
// the call.
type Batch[T any] struct {
	events *eventlog.Batch
	later  int // number of events left for the next call
}

// Len returns the largest number of changes left. Changes yielded by All do not count.
func (b Batch[T]) Len() int { return b.events.Left() - b.later }

// All yields the changes one after the other, and so marks the current one. If the loop's body
// panics or ends the goroutine, only the current change is lost, and the rest comes again with the
// next batch. Changes left when the handler returns count as handled.
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

// batchReceiver delivers to a function for batches.
type batchReceiver[T any] struct {
	handle func(Batch[T])
	n      int
}

// receive calls the function with up to n events. A batch may hold one more, because both events of
// a recreated object are taken; it stays for the next call. If the function returns, or fails
// outside of All, the rest of its n events is dropped.
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
