package informer

import (
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// Handlers that are added while their view ends either end with the view or are refused.
func TestLentViewsEndWithAllTheirHandlers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		i := New(sourceOf(newScript("10", kit.Pod("a", "1"))), Options[*corev1.Pod]{Observe: observed})
		cancel, wait := starts(t, i)
		for range 20 {
			lent, end := i.Lend()
			var adding sync.WaitGroup
			for n := range 4 {
				adding.Go(func() {
					var err error
					if n%2 == 0 {
						_, err = lent.Handle(&journal{}, HandlerOptions{})
					} else {
						_, err = lent.Shared().AddEventHandler(cache.ResourceEventHandlerFuncs{})
					}
					if err != nil {
						require.ErrorIs(t, err, ErrStopped)
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
	bubble(t, func(t *testing.T) {
		i := New(sourceOf(newScript("10", kit.Pod("a", "1"))), Options[*corev1.Pod]{Observe: observed})
		lent, end := i.Lend()
		again, endAgain := lent.Lend()
		require.Same(t, i.Indexer(), again.Indexer())
		require.Same(t, i.Shared().GetIndexer(), lent.Shared().GetIndexer())
		shown, ok := As[*corev1.Pod](lent.Shared())
		require.True(t, ok)
		require.Same(t, lent, shown)

		var own, ofLent, ofAgain journal
		own.mustHandle(t, i)
		ofLent.mustHandle(t, lent)
		ofAgain.mustHandle(t, again)
		starts(t, i)
		require.Len(t, i.Status().Handlers, 3)
		end()
		end()
		synctest.Wait()
		require.Len(t, i.Status().Handlers, 2)
		endAgain()
		require.Len(t, i.Status().Handlers, 1)
		require.Len(t, own.take(), 1)
	})
}

func (j *journal) mustHandle(t *testing.T, i *Informer[*corev1.Pod]) {
	t.Helper()
	_, err := i.Handle(j, HandlerOptions{})
	require.NoError(t, err)
}
