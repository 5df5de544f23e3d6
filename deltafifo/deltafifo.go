package deltafifo

import (
	"context"
	"sync"

	"github.com/tidemark-k8s/tidemark/internal/verify"
)

// bound is the number of waiting deltas at which producers wait.
const bound = 4096

// DeltaFIFO is an ordered queue of deltas between the goroutines that read sources and the
// consumer. The consumer takes all waiting deltas at once, by swapping slices. The queue keeps the
// order, and merges or drops nothing.
//
// The queue is bounded: producers wait while it is full. It never splits a batch, so the last batch
// may exceed the bound.
type DeltaFIFO struct {
	mu sync.Mutex
	// waiting and taken swap roles with each Drain. taken belongs to the consumer until its next
	// Drain, without mu.
	waiting, taken []Delta
	bound          int // less in tests
	closed         bool
	// spare keeps the slices of an empty queue until the garbage collector takes them.
	spare sync.Pool

	ready chan struct{} // holds a token if the consumer should look again
	room  chan struct{} // holds a token if a producer should look again
}

// New returns an empty queue. Producers wait while it has 4,096 deltas.
func New() *DeltaFIFO {
	return &DeltaFIFO{bound: bound, ready: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// Push appends a batch. It waits while the queue is full. If ctx ends first, Push returns its cause
// and queues nothing. After Close it returns [ErrClosed]. The slice still belongs to the caller.
// Safe for any goroutine.
func (q *DeltaFIFO) Push(ctx context.Context, batch ...Delta) error {
	for {
		pushed, err := q.tryPush(batch)
		if pushed || err != nil {
			return err
		}
		select {
		case <-q.room:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (q *DeltaFIFO) tryPush(batch []Delta) (pushed bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()

	switch {
	case q.closed:
		signal(q.room) // the next producer should know too
		return false, ErrClosed
	case len(q.waiting) >= q.bound:
		return false, nil
	}
	if q.waiting == nil {
		q.waiting = q.fetch()
	}
	q.waiting = append(q.waiting, batch...)
	if len(q.waiting) < q.bound {
		signal(q.room) // the token was for one producer: pass it on
	}
	signal(q.ready)
	return true, nil
}

// Drain returns all waiting deltas, in order. It waits if there are none. If ctx ends first, it
// returns the cause. After Close it returns the remaining deltas, and then [ErrClosed]. The slice
// belongs to the caller until the next Drain. There is one consumer: calls must not overlap.
func (q *DeltaFIFO) Drain(ctx context.Context) ([]Delta, error) {
	clear(q.taken)
	for {
		batch, err := q.tryDrain()
		if len(batch) > 0 || err != nil {
			return batch, err
		}
		select {
		case <-q.ready:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (q *DeltaFIFO) tryDrain() ([]Delta, error) {
	q.mu.Lock()
	defer q.mu.Unlock()

	if len(q.waiting) == 0 {
		q.giveBack(q.waiting)
		q.giveBack(q.taken)
		q.waiting, q.taken = nil, nil
		if q.closed {
			return nil, ErrClosed
		}
		return nil, nil
	}
	q.waiting, q.taken = q.taken[:0], q.waiting
	signal(q.room)
	if verify.On {
		q.check()
	}
	return q.taken, nil
}

// giveBack puts an empty slice into the pool.
func (q *DeltaFIFO) giveBack(deltas []Delta) {
	if cap(deltas) > 0 {
		deltas = deltas[:0]
		q.spare.Put(&deltas)
	}
}

func (q *DeltaFIFO) fetch() []Delta {
	if spare, ok := q.spare.Get().(*[]Delta); ok {
		return *spare
	}
	return nil
}

// Len returns the number of waiting deltas. Safe for any goroutine.
func (q *DeltaFIFO) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()

	return len(q.waiting)
}

// Close closes the queue. Push fails from then on, and Drain fails once the queue is empty. Safe
// for any goroutine. A second call does nothing.
func (q *DeltaFIFO) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()

	q.closed = true
	signal(q.room)
	signal(q.ready)
}

// check panics if an invariant is broken. Only the consumer calls it, with q.mu held.
func (q *DeltaFIFO) check() {
	if cap(q.waiting) > 0 && cap(q.taken) > 0 {
		verify.That(&q.waiting[:1][0] != &q.taken[:1][0], "both halves of the queue are one")
	}
	for _, d := range q.waiting[:cap(q.waiting)] {
		verify.That(d.Op == 0 && d.Version == "", "the queue holds on to a delta that was taken")
	}
	for _, d := range q.taken {
		verify.That(d.Op != 0, "a delta without an operation")
	}
}

// signal puts a token into a channel with room for one, unless it already has one.
func signal(token chan struct{}) {
	select {
	case token <- struct{}{}:
	default:
	}
}
