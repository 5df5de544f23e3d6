package deltafifo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/indexer"
)

func delta(producer, serial int) Delta {
	return Delta{Op: Modified, Key: indexer.Key{Name: fmt.Sprint(producer)}, Version: "1", Object: serial}
}

// twins are a queue and its twin, a slice. At the bound, a push waits.
type twins struct {
	t      *testing.T
	rand   *rand.Rand
	ended  context.Context // for calls that must not wait
	queue  *DeltaFIFO
	bound  int
	twin   []Delta
	serial int
}

func newTwins(t *testing.T, r *rand.Rand) *twins {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	bound := 1 + r.IntN(10)
	return &twins{t: t, rand: r, ended: ended, queue: newBounded(bound), bound: bound}
}

// newBounded returns an empty queue with another bound.
func newBounded(bound int) *DeltaFIFO {
	q := New()
	q.bound = bound
	return q
}

func (w *twins) step() {
	if w.serial++; w.rand.IntN(3) > 0 {
		w.push()
	} else {
		w.drain()
	}
	w.queue.mu.Lock()
	require.Len(w.t, w.queue.waiting, len(w.twin))
	w.queue.mu.Unlock()
	require.Equal(w.t, len(w.twin), w.queue.Len())
}

func (w *twins) push() {
	var batch []Delta
	for range w.rand.IntN(5) {
		batch = append(batch, delta(0, w.serial))
	}
	err := w.queue.Push(w.ended, batch...)
	if len(w.twin) >= w.bound {
		require.ErrorIs(w.t, err, context.Canceled)
		return
	}
	require.NoError(w.t, err)
	w.twin = append(w.twin, batch...)
}

func (w *twins) drain() {
	got, err := w.queue.Drain(w.ended)
	if len(w.twin) == 0 {
		require.ErrorIs(w.t, err, context.Canceled)
		return
	}
	require.NoError(w.t, err)
	require.Equal(w.t, w.twin, got)
	w.twin = nil
}

// close closes the queue. The remaining deltas must come before ErrClosed.
func (w *twins) close() {
	w.queue.Close()
	if len(w.twin) > 0 {
		got, err := w.queue.Drain(w.t.Context())
		require.NoError(w.t, err, "what is left comes first")
		require.Equal(w.t, w.twin, got)
	}
	_, err := w.queue.Drain(w.t.Context())
	require.ErrorIs(w.t, err, ErrClosed)
	require.Zero(w.t, cap(w.queue.waiting)+cap(w.queue.taken), "memory")
	require.ErrorIs(w.t, w.queue.Push(w.t.Context(), delta(0, 0)), ErrClosed)
}

func TestDeltaFIFOAgainstItsTwin(t *testing.T) {
	for seed := range uint64(50) {
		w := newTwins(t, rand.New(rand.NewPCG(seed, 2)))
		for range 400 {
			w.step()
		}
		w.close()
	}
}

// B19: a producer waits while the queue is full.
func TestContract_B19_ProducersKeepTheirOrderAndWaitForRoom(t *testing.T) {
	const producers, each = 4, 5000
	q := newBounded(16)
	var wg sync.WaitGroup
	for p := range producers {
		wg.Go(func() {
			for i := 0; i < each; {
				var batch []Delta
				for range 1 + i%7 {
					batch = append(batch, delta(p, i))
					i++
				}
				if err := q.Push(t.Context(), batch...); err != nil {
					panic(err)
				}
			}
		})
	}
	go func() { wg.Wait(); q.Close() }()

	next := make(map[string]int)
	for {
		batch, err := q.Drain(t.Context())
		if errors.Is(err, ErrClosed) {
			break
		}
		require.NoError(t, err)
		require.Less(t, len(batch), 16+7, "bounded")
		for _, d := range batch {
			require.Equal(t, next[d.Key.Name], d.Object)
			next[d.Key.Name]++
		}
	}
	require.Len(t, next, producers)
	for _, n := range next {
		require.GreaterOrEqual(t, n, each)
	}
}

func TestEveryWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newBounded(1)
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("enough")
		results := make(chan error, 3)
		go func() { _, err := q.Drain(ctx); results <- err }()
		synctest.Wait()
		cancel(why)
		require.ErrorIs(t, <-results, why)

		require.NoError(t, q.Push(t.Context(), delta(0, 0)))
		for range 3 {
			go func() { results <- q.Push(t.Context(), delta(0, 1)) }()
		}
		synctest.Wait()
		q.Close()
		for range 3 {
			require.ErrorIs(t, <-results, ErrClosed)
		}
	})
}

func TestAnEmptyDeltaFIFOKeepsNoMemory(t *testing.T) {
	q := New()
	for range 3000 {
		require.NoError(t, q.Push(t.Context(), delta(0, 1)))
	}
	_, err := q.Drain(t.Context())
	require.NoError(t, err)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = q.Drain(ended)
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, cap(q.waiting)+cap(q.taken))
}

func TestOpNames(t *testing.T) {
	require.Equal(t, "added", Added.String())
	require.Equal(t, "abort", Abort.String())
	require.Equal(t, "unknown", Op(99).String())
}
