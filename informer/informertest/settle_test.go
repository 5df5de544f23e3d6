package informertest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// startInformer starts an informer that ends with the test.
func startInformer[T informer.Object](t *testing.T, source reflector.Source) *informer.Informer[T] {
	t.Helper()
	i := informer.New(source, informer.Options[T]{Observe: func(informer.Event) {}})
	ctx, cancel := context.WithCancel(t.Context())
	wait, err := i.Start(ctx)
	require.NoError(t, err)
	t.Cleanup(func() {
		cancel()
		require.NoError(t, wait())
	})
	return i
}

func TestSettle(t *testing.T) {
	inBothShells(t, func(t *testing.T, s *Server, source reflector.Source) {
		p, others := startInformer[*corev1.Pod](t, source), startInformer[*corev1.ConfigMap](t, s.Source(configMaps, ""))
		recorded := 0 // Settle orders the handler before the test
		_, err := p.Handle(informer.HandlerFunc[*corev1.Pod](func(informer.Change[*corev1.Pod]) {
			time.Sleep(time.Minute)
			recorded++
		}), informer.HandlerOptions{})
		require.NoError(t, err)

		require.NoError(t, s.Settle(t.Context(), p, others.Shared()))
		requests := s.Counts()
		for n := range 3 {
			require.NoError(t, s.Create(t.Context(), newPod("a", string(rune('p'+n)))))
			require.NoError(t, s.Settle(t.Context(), p, others.Shared()))
			assert.Equal(t, requests, s.Counts(), "it has not taken another watch to find out")
			assert.Equal(t, n+1, p.Indexer().Len())
			assert.Equal(t, n+1, recorded)
		}
		s.CutWatches() // a new watch also gets the bookmark
		require.NoError(t, s.Delete(t.Context(), newPod("a", "p")))
		require.NoError(t, s.Settle(t.Context(), others.Shared(), p))
		assert.Equal(t, 4, recorded)
	})
}

// Settle accepts informers from client-go's accessors, which wrap this module's informers.
func TestSettleTakesClientGosTypedViews(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s *Server) {
		p := startInformer[*corev1.Pod](t, s.Source(pods, ""))
		require.NoError(t, s.Create(t.Context(), newPod("a", "p")))
		require.NoError(t, s.Settle(t.Context(), cache.NewTypedSharedIndexInformer[*corev1.Pod](p.Shared())))
		assert.Equal(t, 1, p.Indexer().Len())
		theirs := cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.Pod{}, 0, nil)
		require.ErrorIs(t, s.Settle(t.Context(), cache.NewTypedSharedIndexInformer[*corev1.Pod](theirs)), errInformer)
	})
}

func TestSettleReturnsTheReason(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s *Server) {
		p := startInformer[*corev1.Pod](t, s.Source(pods, ""))
		require.NoError(t, s.Settle(t.Context(), p))
		require.ErrorIs(t, s.Settle(t.Context(), p, cache.NewStore(cache.MetaNamespaceKeyFunc)), errInformer)

		resume := s.Stall(Request{}) // with only the watches cut, a list would work in the end
		require.NoError(t, s.Create(t.Context(), newPod("a", "p")))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		err := s.Settle(ctx, p)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, reflector.ErrSilent)
		require.ErrorContains(t, err, "informer *v1.Pod: version ")
		require.ErrorContains(t, err, " is not reached: ")
		resume()
		require.NoError(t, s.Settle(t.Context(), p))
		assert.Equal(t, 1, p.Indexer().Len())
	})
}
