package engine_test

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

// Whatever a registration is doing when it is stopped, at most one more call follows, and other
// handlers get every change.
func TestHandlersStopAtAnyMoment(t *testing.T) {
	for _, delivery := range rig.Deliveries {
		f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
		var recorded atomic.Int64
		want := int64(1)
		stays := f.register(informer.HandlerFunc[*corev1.Pod](func(informer.Change[*corev1.Pod]) { recorded.Add(1) }), informer.HandlerOptions{})
		f.start()
		f.list("1", kit.Pod("a", "1"))
		for n := range 100 {
			var after atomic.Int64
			var ended atomic.Bool
			leaves := f.register(informer.HandlerFunc[*corev1.Pod](func(informer.Change[*corev1.Pod]) {
				if ended.Load() {
					after.Add(1)
				}
			}), informer.HandlerOptions{Delivery: delivery, Resync: time.Nanosecond})
			var stopping sync.WaitGroup
			stopping.Go(func() {
				for range n * 30 {
					runtime.Gosched()
				}
				leaves.Stop()
				ended.Store(true)
			})
			for range 50 {
				want++
				f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", fmt.Sprint(want))))
			}
			stopping.Wait()
			<-leaves.Done()
			require.LessOrEqual(t, after.Load(), int64(1))
			require.Zero(t, leaves.Backlog())
		}
		f.settled(stays)
		require.Equal(t, want, recorded.Load())
	}
}

// A handler that is removed while it is stuck in the delete of a recreated object does not hold the
// new object, whose add it will not get.
func TestAHandlerRemovedInTheMidstOfARecreationHoldsItsDelete(t *testing.T) {
	for _, delivery := range rig.Deliveries {
		synctest.Test(t, func(t *testing.T) {
			f, h := newTestCore(t, informer.Options[*corev1.Pod]{}, 1), rig.NewGated()
			r := f.register(h, informer.HandlerOptions{Delivery: delivery})
			f.start()
			defer h.Open()
			f.list("1", kit.Pod("a", "1", kit.UID("one")))
			synctest.Wait()
			h.Pass()
			var other kit.Ghosts
			f.apply(deltaOf(deltafifo.Modified, other.Watch(kit.Pod("a", "2", kit.UID("two")))))
			require.Equal(t, []string{"initial a@1", "lost a@1"}, h.Take(), "and it is stuck in the second")
			r.Stop()
			f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "3", kit.UID("two")))) // replaces it
			require.Zero(t, other.Left())
			runtime.KeepAlive(r)
		})
	}
}
