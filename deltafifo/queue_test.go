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

func delta(producer, serial int) Delta[int] {
	return Delta[int]{Op: Modified, Key: indexer.Key{Name: fmt.Sprint(producer)}, Version: "1", Object: serial}
}

// The twin of a queue is a slice; bounds show as a push that has to wait.
func TestQueueAgainstItsTwin(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // a test
		bound := 1 + r.IntN(10)
		q := New[int](bound)
		var twin []Delta[int]
		for serial := range 400 {
			if r.IntN(3) > 0 {
				var batch []Delta[int]
				for range r.IntN(5) {
					batch = append(batch, delta(0, serial))
				}
				err := q.Push(ended, batch...)
				if len(twin) >= bound {
					require.ErrorIs(t, err, context.Canceled)
				} else {
					require.NoError(t, err)
					twin = append(twin, batch...)
				}
			} else if len(twin) > 0 {
				got, err := q.Drain(t.Context())
				require.NoError(t, err)
				require.Equal(t, twin, got)
				twin = nil
			}
			q.mu.Lock()
			require.Len(t, q.waiting, len(twin))
			q.mu.Unlock()
			require.Equal(t, len(twin), q.Len())
		}
		q.Close()
		if len(twin) > 0 {
			got, err := q.Drain(t.Context())
			require.NoError(t, err, "what is left comes first")
			require.Equal(t, twin, got)
		}
		_, err := q.Drain(t.Context())
		require.ErrorIs(t, err, ErrClosed)
		require.ErrorIs(t, q.Push(t.Context(), delta(0, 0)), ErrClosed)
	}
}

func TestProducersKeepTheirOrderAndWaitForRoom(t *testing.T) {
	const producers, each = 4, 5000
	q := New[int](16)
	var wg sync.WaitGroup
	for p := range producers {
		wg.Go(func() {
			for i := 0; i < each; {
				var batch []Delta[int]
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
		q := New[int](1)
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

func TestAnEmptyQueueKeepsNoMemory(t *testing.T) {
	q := New[int](0)
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
