package informer_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// D27, B7: a source may report last that an object has left it, when another source has reported its delete.
// Handlers never get the older object after the newer one.
func TestContract_D27_ALateDeleteIsNotDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := rig.NewScript("1"), rig.NewScript("1")
		i, j := informer.Join([]reflector.Source{rig.SourceOf(a), rig.SourceOf(b)}, informer.Options[*corev1.Pod]{}), &rig.Journal{}
		handles(t, i, j)
		rig.Start(t, i)
		for _, report := range []struct {
			by   *rig.Script
			kind watch.EventType
			pod  *corev1.Pod
		}{
			{a, watch.Added, kit.Pod("p", "5")}, {b, watch.Added, kit.Pod("p", "10")},
			{b, watch.Deleted, kit.Pod("p", "12")}, {a, watch.Deleted, kit.Pod("p", "10")},
		} {
			synctest.Wait()
			report.by.Send(report.kind, report.pod)
		}
		synctest.Wait()
		require.Equal(t, []string{"add p@5", "update p@5 p@10", "delete p@12"}, j.Take())
	})
}

// A store of several sources is synced when all sources are, and its version is the lowest of the
// sources' versions.
func TestSourcesOfOneStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := func(ns string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Namespace = ns } }
		one, two := rig.NewScript("10", kit.Pod("a", "1", in("one"))), rig.NewScript("20", kit.Pod("a", "2", in("two")))
		two.Fail(rig.ErrPoison)
		i, j := informer.Join([]reflector.Source{rig.SourceOf(one), rig.SourceOf(two)}, informer.Options[*corev1.Pod]{Observe: rig.Observed}), &rig.Journal{}
		reg, err := i.Handle(j, informer.HandlerOptions{})
		require.NoError(t, err)
		rig.Start(t, i)
		require.Equal(t, []string{"initial a@1"}, j.Take())
		require.False(t, kit.Closed(i.Synced()) || kit.Closed(reg.Synced()) || i.Status().Watching)
		require.Empty(t, i.Indexer().Version())
		late := &rig.Journal{}
		lateReg, err := i.Handle(late, informer.HandlerOptions{Delivery: informer.Latest})
		require.NoError(t, err)
		require.Equal(t, []string{"initial a@1"}, late.Take())
		require.False(t, kit.Closed(lateReg.Synced()))
		two.Fail(nil)
		require.NoError(t, i.WaitSynced(t.Context()))
		require.Equal(t, []string{"initial a@2"}, j.Take(), "of the initial state too")
		require.Equal(t, []string{"initial a@2"}, late.Take())
		require.True(t, kit.Closed(reg.Synced()) && kit.Closed(lateReg.Synced()))
		require.Equal(t, "10", i.Indexer().Version(), "the lowest")
		two.Send(watch.Modified, kit.Pod("a", "21", in("two")))
		require.Equal(t, []string{"update a@2 a@21"}, j.Take())
		require.Equal(t, "10", i.Indexer().Version())
		one.Set("30")
		one.Expire()
		require.Equal(t, []string{"lost a@1"}, j.Take(), "a relist sweeps its own part only")
		require.Equal(t, "21", i.Indexer().Version())
		require.True(t, i.Status().Watching)
		require.Equal(t, 1, i.Status().Relists)
	})
}
