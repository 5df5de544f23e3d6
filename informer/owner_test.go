package informer_test

import (
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

// Handlers that are added while their view ends either end with the view or are refused.
func TestLentViewsEndWithAllTheirHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := informer.New(rig.SourceOf(rig.NewScript("10", kit.Pod("a", "1"))), informer.Options[*corev1.Pod]{Observe: rig.Observed})
		cancel, wait := rig.Starts(t, i)
		for range 20 {
			lent, end := i.Lend()
			var adding sync.WaitGroup
			for n := range 4 {
				adding.Go(func() {
					var err error
					if n%2 == 0 {
						_, err = lent.Handle(&rig.Journal{}, informer.HandlerOptions{})
					} else {
						_, err = lent.Shared().AddEventHandler(cache.ResourceEventHandlerFuncs{})
					}
					if err != nil {
						require.ErrorIs(t, err, informer.ErrStopped)
					}
				})
			}
			end()
			adding.Wait()
			require.Empty(t, i.Status().Handlers)
		}
		cancel()
		wait()
	})
}

// A lent view has the informer's indexer and store. A view lent from a lent view does not end with
// it.
func TestLentViewsAreTheInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := informer.New(rig.SourceOf(rig.NewScript("10", kit.Pod("a", "1"))), informer.Options[*corev1.Pod]{Observe: rig.Observed})
		lent, end := i.Lend()
		again, endAgain := lent.Lend()
		require.Same(t, i.Indexer(), again.Indexer())
		require.Same(t, i.Shared().GetIndexer(), lent.Shared().GetIndexer())
		shown, ok := informer.As[*corev1.Pod](lent.Shared())
		require.True(t, ok)
		require.Same(t, lent, shown)

		var own, ofLent, ofAgain rig.Journal
		handles(t, i, &own)
		handles(t, lent, &ofLent)
		handles(t, again, &ofAgain)
		rig.Starts(t, i)
		require.Len(t, i.Status().Handlers, 3)
		end()
		end()
		synctest.Wait()
		require.Len(t, i.Status().Handlers, 2)
		endAgain()
		require.Len(t, i.Status().Handlers, 1)
		require.Len(t, own.Take(), 1)
	})
}

// handles adds a journal as a handler.
func handles(t *testing.T, i *informer.Informer[*corev1.Pod], j *rig.Journal) {
	t.Helper()
	_, err := i.Handle(j, informer.HandlerOptions{})
	require.NoError(t, err)
}
