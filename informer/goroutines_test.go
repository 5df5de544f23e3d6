package informer_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

// goroutines returns the number of goroutines, once it has stopped changing.
func goroutines() int {
	n := runtime.NumGoroutine()
	for same := 0; same < 50; same++ {
		time.Sleep(time.Millisecond)
		if now := runtime.NumGoroutine(); now != n {
			n, same = now, 0
		}
	}
	return n
}

// An informer has one goroutine that applies changes, one for each source and one for each handler, beside
// that of Run.
func TestTheGoroutinesOfAnInformer(t *testing.T) {
	const handlers = 10
	i := informer.New(rig.SourceOf(rig.NewScript("10", kit.Pod("a", "1"))), informer.Options[*corev1.Pod]{
		Observe: rig.Observed,
	})
	for range handlers {
		_, err := i.Handle(rig.Idle{}, informer.HandlerOptions{})
		require.NoError(t, err)
	}
	before := goroutines()
	ctx, cancel := context.WithCancel(t.Context())
	var run sync.WaitGroup
	run.Go(func() { _ = i.Run(ctx) })
	require.NoError(t, i.WaitSynced(ctx))
	require.Equal(t, handlers+3, goroutines()-before)
	cancel()
	run.Wait()
}
