package informer_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/reflector"
)

func TestWaitDeliveredWaitsForTheSlowestHandler(t *testing.T) {
	for name, delivery := range map[string]informer.Delivery{"every": informer.Every, "latest": informer.Latest} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, tokens := rig.NewScript("5", kit.Pod("a", "5")), make(chan struct{})
				i := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Observe: rig.Observed})
				_, err := i.Handle(&rig.Journal{}, informer.HandlerOptions{})
				require.NoError(t, err)
				r, err := i.Handle(rig.Ticketed(tokens), informer.HandlerOptions{Delivery: delivery})
				require.NoError(t, err)
				early := rig.Waiting(t.Context(), i, "5")
				rig.Pends(t, early) // the informer does not run yet
				stop := rig.Start(t, i)
				rig.Pends(t, early) // a is on its way
				tokens <- struct{}{}
				require.NoError(t, <-early)

				s.Send(watch.Added, kit.Pod("b", "6"))
				s.Send(watch.Modified, kit.Pod("a", "7"))
				first, shared := rig.Waiting(t.Context(), i, "6"), rig.Waiting(t.Context(), i.Shared().(interface {
					WaitDelivered(context.Context, string) error
				}), "7")
				rig.Pends(t, first)
				tokens <- struct{}{} // the last change is with the handler now, and has not been handled
				rig.Pends(t, shared)
				tokens <- struct{}{}
				require.NoError(t, <-first)
				require.NoError(t, <-shared)
				require.NoError(t, i.WaitDelivered(t.Context(), "7"), "nothing is left to wait for")
				for n := range 3 {
					s.Send(watch.Added, kit.Pod(fmt.Sprint("later", n), fmt.Sprint(8+n)))
					synctest.Wait()
				}
				tokens <- struct{}{}
				tokens <- struct{}{}
				synctest.Wait()
				undelivered := map[informer.Delivery]int{informer.Every: 2, informer.Latest: 1}
				require.Equal(t, undelivered[delivery], r.Backlog(), "nobody waits any more: Every publishes no progress within a burst")
				tokens <- struct{}{}
				stop()
			})
		})
	}
}

func TestWaitDeliveredGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, tokens := rig.NewScript("5", kit.Pod("a", "5")), make(chan struct{})
		i := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Observe: rig.Observed})
		r, err := i.Handle(rig.Ticketed(tokens), informer.HandlerOptions{Name: "stuck"})
		require.NoError(t, err)
		stop := rig.Start(t, i)
		require.NoError(t, i.WaitSynced(t.Context()))

		short, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err = i.WaitDelivered(short, "5")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "stuck")

		result := rig.Waiting(t.Context(), i, "5")
		rig.Pends(t, result)
		r.Stop()
		require.NoError(t, <-result, "one that is stopped is owed nothing")
		close(tokens)

		result = rig.Waiting(t.Context(), i, "99")
		rig.Pends(t, result)
		stop()
		require.ErrorIs(t, <-result, informer.ErrStopped)
		require.ErrorIs(t, informer.New[*corev1.Pod](reflector.Source{}, informer.Options[*corev1.Pod]{}).WaitDelivered(t.Context(), "1"), informer.ErrNoSource)
	})
}

// WaitDelivered returns when the informer stops while a handler is stuck in an awaited change.
func TestWaitDeliveredEndsWithTheInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tokens := make(chan struct{})
		i := informer.New(rig.SourceOf(rig.NewScript("5", kit.Pod("a", "5"))), informer.Options[*corev1.Pod]{Observe: rig.Observed})
		_, err := i.Shared().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-tokens }})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		wait, err := i.Start(ctx)
		require.NoError(t, err)
		result := rig.Waiting(t.Context(), i, "5")
		rig.Pends(t, result)
		cancel()
		require.ErrorIs(t, <-result, informer.ErrStopped)
		close(tokens)
		require.NoError(t, wait())
	})
}
