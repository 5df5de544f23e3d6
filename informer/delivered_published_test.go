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

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

// returned fails the test unless WaitDelivered has returned without an error.
func returned(t *testing.T, result <-chan error) {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-result:
		require.NoError(t, err)
	default:
		require.Fail(t, "it waits for more than was published when it was called")
	}
}

// busy starts an informer of one pod with the handler h, which has handled the pod's add.
func busy(t *testing.T, h *rig.Gated, o informer.HandlerOptions) (*rig.Script, *informer.Informer[*corev1.Pod]) {
	s := rig.NewScript("5", kit.Pod("a", "5"))
	i := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Observe: rig.Observed})
	_, err := i.Handle(h, o)
	require.NoError(t, err)
	rig.Start(t, i)
	h.Pass()
	return s, i
}

// WaitDelivered returns once the changes published before the call are delivered, even if the
// handler is never idle.
func TestWaitDeliveredDoesNotWaitForIdleness(t *testing.T) {
	for _, delivery := range rig.Deliveries {
		synctest.Test(t, func(t *testing.T) {
			h := rig.NewGated()
			s, i := busy(t, h, informer.HandlerOptions{Delivery: delivery})
			defer h.Open()
			s.Send(watch.Added, kit.Pod("b", "6"))
			synctest.Wait()
			s.Send(watch.Added, kit.Pod("c", "7"))
			result := rig.Waiting(t.Context(), i, "7")
			rig.Pends(t, result)
			h.Pass() // h returns from b
			rig.Pends(t, result)
			for n := range 3 {
				s.Send(watch.Added, kit.Pod(fmt.Sprint("later", n), fmt.Sprint(8+n)))
				synctest.Wait()
				h.Pass()
			}
			returned(t, result)
		})
	}
}

// WaitDelivered does not wait for a later change, even if the handler has taken it together with an
// awaited change.
func TestWaitDeliveredDoesNotWaitForTheRestOfABurst(t *testing.T) {
	for _, delivery := range rig.Deliveries {
		synctest.Test(t, func(t *testing.T) {
			h := rig.NewGated()
			s, i := busy(t, h, informer.HandlerOptions{Delivery: delivery})
			defer h.Open()
			s.Send(watch.Added, kit.Pod("b", "6"))
			synctest.Wait()
			s.Send(watch.Added, kit.Pod("c", "7"))
			result := rig.Waiting(t.Context(), i, "7")
			synctest.Wait()
			s.Send(watch.Added, kit.Pod("d", "8"))
			synctest.Wait()
			h.Pass() // h returns from b, and takes c and d
			rig.Pends(t, result)
			h.Pass() // h returns from c, and is stuck in d
			returned(t, result)
		})
	}
}

// WaitDelivered does not wait for a resync.
func TestWaitDeliveredDoesNotWaitForAResync(t *testing.T) {
	for _, delivery := range rig.Deliveries {
		synctest.Test(t, func(t *testing.T) {
			h := rig.NewGated()
			s, i := busy(t, h, informer.HandlerOptions{Delivery: delivery, Resync: time.Hour})
			defer h.Open()
			s.Send(watch.Modified, kit.Pod("a", "6"))
			synctest.Wait()
			h.Pass()
			h.Take()
			time.Sleep(time.Hour)
			require.Equal(t, []string{"update a@6 a@6"}, h.Take(), "and it is stuck in that")
			returned(t, rig.Waiting(t.Context(), i, "6"))
		})
	}
}

// WaitDelivered no longer waits for a handler that is removed meanwhile.
func TestWaitDeliveredReturnsWhereTheHandlerLeaves(t *testing.T) {
	rig.EachDelivery(t, func(t *testing.T, delivery informer.Delivery) {
		s, gate := rig.NewScript("5", kit.Pod("a", "5")), make(chan struct{})
		i := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Observe: rig.Observed})
		var r informer.Registration
		r, err := i.Handle(informer.HandlerFunc[*corev1.Pod](func(c informer.Change[*corev1.Pod]) {
			if c.New.Name == "a" {
				<-gate
				r.Stop()
			}
		}), informer.HandlerOptions{Delivery: delivery})
		require.NoError(t, err)
		rig.Start(t, i)
		s.Send(watch.Added, kit.Pod("b", "6"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		result := rig.Waiting(ctx, i, "6")
		rig.Pends(t, result)
		close(gate)
		synctest.Wait()
		require.NoError(t, <-result)
		require.NoError(t, i.WaitDelivered(ctx, "6"), "it is no handler any more")
	})
}
