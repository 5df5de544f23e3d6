package engine_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/internal/delivery"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

// churn updates pod a n times and returns all of its versions but the last.
func (f *testCore) churn(n int) (old kit.Ghosts) {
	for i := range n {
		f.apply(deltaOf(deltafifo.Modified, old.Watch(kit.Pod("a", fmt.Sprint(100+i)))))
	}
	return old[:n-1]
}

func (f *testCore) settled(rs ...informer.Registration) {
	rig.Eventually(f.t, func() bool {
		for _, r := range rs {
			if r.Backlog() > 0 {
				return false
			}
		}
		return true
	}, "all handlers have read all there is")
}

func TestALogThatAllHaveReadHoldsNoObjects(t *testing.T) {
	for _, delivery := range rig.Deliveries {
		f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
		h := rig.Idle{}
		r1, r2 := f.register(h, informer.HandlerOptions{Delivery: delivery}), f.register(h, informer.HandlerOptions{})
		f.start()
		var initial kit.Ghosts
		f.list("1", initial.Watch(kit.Pod("a", "1")))
		f.settled(r1, r2)
		for _, n := range []int{3, 8, 700, 2000} {
			old := f.churn(n)
			f.settled(r1, r2)
			require.Zero(t, old.Left(), "of %d versions", n)
		}
		require.Zero(t, initial.Left(), "the initial state")
	}
}

func TestAHandlerThatLeftHoldsNothing(t *testing.T) {
	for _, delivery := range rig.Deliveries {
		f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
		h := rig.Idle{}
		stays, leaves := f.register(h, informer.HandlerOptions{}), f.register(h, informer.HandlerOptions{Delivery: delivery})
		f.start()
		f.list("1", kit.Pod("a", "1"))
		f.settled(stays, leaves)
		leaves.Stop()
		<-leaves.Done()
		old := f.churn(2000)
		f.settled(stays)
		require.Zero(t, old.Left())
		require.Zero(t, leaves.Backlog(), "nothing waits for it")
		runtime.KeepAlive(leaves)
	}
}

func TestAnInformerWithoutHandlersHoldsNoOldObjects(t *testing.T) {
	f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
	f.start()
	f.list("1", kit.Pod("a", "1"))
	old := f.churn(2000)
	require.Zero(t, old.Left())
}

// A stuck handler with Latest delivery keeps a bounded number of old versions in memory, wherever
// it is stuck.
func TestAHandlerWithLatestThatIsStuckPinsNoLog(t *testing.T) {
	for _, at := range []string{"an event", "the initial state"} {
		t.Run(at, func(t *testing.T) {
			f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
			gate, entered := make(chan struct{}), make(chan struct{}, 1<<16)
			f.register(informer.HandlerFunc[*corev1.Pod](func(informer.Change[*corev1.Pod]) {
				entered <- struct{}{}
				<-gate
			}), informer.HandlerOptions{Delivery: informer.Latest})
			f.start()
			f.list("1", kit.Pod("a", "1"))
			<-entered
			if at == "an event" {
				gate <- struct{}{}
				f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "2")))
				<-entered
			}
			defer close(gate)
			old := f.churn(10_000)
			require.LessOrEqual(t, old.Left(), delivery.BehindLimit+2*256)
		})
	}
}

// halfSource is a source that answers the first page of a list, and never the second.
type halfSource struct{ *rig.Script }

func (h *halfSource) List(ctx context.Context, o metav1.ListOptions) (apiruntime.Object, error) {
	if o.Continue != "" {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	list, err := h.Script.List(ctx, o)
	if err == nil {
		list.(*corev1.PodList).Continue = "more"
	}
	return list, err
}

// A run that ends in the middle of a list keeps none of the list's objects.
func TestNothingOfHalfAStateIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var half kit.Ghosts
		i := informer.New[*corev1.Pod](rig.SourceOf(&halfSource{rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))}), informer.Options[*corev1.Pod]{
			PageSize: 2, Observe: rig.Observed,
			Transform: func(p *corev1.Pod) (*corev1.Pod, error) { return half.Watch(p), nil },
		})
		cancel, wait := rig.Starts(t, i)
		require.Len(t, half, 2)
		require.True(t, coreOf(i).Staging())
		cancel()
		wait()
		require.False(t, coreOf(i).Staging())
		require.Zero(t, half.Left())
		require.Zero(t, i.Status().Objects)
		runtime.KeepAlive(i)
	})
}
