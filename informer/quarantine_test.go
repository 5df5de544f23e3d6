package informer_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

func TestContract_D3_APoisonedObjectIsQuarantined(t *testing.T) {
	for _, poison := range []string{"error", "panic", "nil"} {
		t.Run(poison, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { quarantines(t, kit.Label("poison", poison)) })
		})
	}
}

func quarantines(t *testing.T, sick func(*corev1.Pod)) {
	s := rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2", sick))
	seen := rig.NewEvents()
	i := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Transform: rig.FailByLabel, Observe: seen.Observe})
	j := &rig.Journal{}
	_, err := i.Handle(j, informer.HandlerOptions{})
	require.NoError(t, err)
	rig.Start(t, i)
	require.NoError(t, i.WaitSynced(t.Context()), "the list syncs")
	require.Equal(t, []string{"initial a@1"}, j.Take())
	require.Equal(t, 1, i.Status().Quarantined)
	recorded := rig.Of[*informer.QuarantineError](seen)
	require.Len(t, recorded, 1)
	require.Equal(t, rig.Named("b"), recorded[0].Key)
	require.ErrorIs(t, recorded[0], informer.ErrTransform)
	require.ErrorContains(t, recorded[0], `"default/b"`)

	s.Send(watch.Modified, kit.Pod("b", "11"))
	require.Equal(t, []string{"add b@11"}, j.Take(), "tried again with its next event")
	require.Zero(t, i.Status().Quarantined)

	s.Send(watch.Modified, kit.Pod("b", "12", sick))
	require.Empty(t, j.Take())
	stale, ok := i.Indexer().Get(rig.Named("b"))
	require.True(t, ok)
	require.Equal(t, "11", stale.ResourceVersion, "the old version stays")
	require.Equal(t, 1, i.Status().Quarantined)
	require.Equal(t, "12", i.Indexer().Version())
	require.Len(t, rig.Of[*informer.QuarantineError](seen), 1)

	s.Set("20", kit.Pod("b", "12", sick), kit.Pod("c", "13", sick))
	s.Expire()
	require.Equal(t, []string{"lost a@1"}, j.Take(), "a relist keeps the old version too")
	require.Equal(t, 2, i.Status().Quarantined)

	s.Set("30", kit.Pod("b", "12"), kit.Pod("c", "13"))
	s.Expire()
	time.Sleep(time.Minute) // the second 410 in a row backs off
	require.Equal(t, []string{"update b@11 b@12", "add c@13"}, j.Take(), "tried again with each relist")
	require.Zero(t, i.Status().Quarantined)

	s.Send(watch.Deleted, kit.Pod("b", "31", sick))
	require.Equal(t, []string{"lost b@12"}, j.Take(), "a delete is a delete")
	s.Send(watch.Deleted, kit.Pod("x", "32", sick))
	require.Empty(t, j.Take(), "of something that was not there")
	require.Zero(t, i.Status().Quarantined)
	require.Equal(t, 1, i.Status().Objects)
}

// D4: an index function that panics on an object leaves the object out of that index alone.
func TestContract_D4_AFailingIndexHarmsNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		byNode := indexer.Index[*corev1.Pod]{Name: "node", Append: func(values []string, p *corev1.Pod) []string {
			if p.Labels["poison"] != "" {
				panic(rig.ErrPoison)
			}
			return append(values, p.Spec.NodeName)
		}}
		seen := rig.NewEvents()
		s := rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2", kit.Label("poison", "yes")))
		i := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Indexes: []indexer.Index[*corev1.Pod]{byNode}, Observe: seen.Observe})
		j := &rig.Journal{}
		_, err := i.Handle(j, informer.HandlerOptions{})
		require.NoError(t, err)
		rig.Start(t, i)
		require.ElementsMatch(t, []string{"initial a@1", "initial b@2"}, j.Take())
		require.Equal(t, 1, i.Status().Unindexed)
		failed := rig.Of[*indexer.IndexError](seen)
		require.Len(t, failed, 1)
		require.Equal(t, "node", failed[0].Index)
		require.Equal(t, rig.Named("b"), failed[0].Key)
		require.ErrorIs(t, failed[0], rig.ErrPoison)
		found, err := i.Indexer().Lookup("node", "")
		require.NoError(t, err)
		require.Equal(t, 1, found.Len())
		found, err = i.Indexer().Lookup(indexer.NamespaceIndex, "default")
		require.NoError(t, err)
		require.Equal(t, 2, found.Len(), "in the other index it is")

		s.Send(watch.Modified, kit.Pod("b", "11"))
		require.Equal(t, []string{"update b@2 b@11"}, j.Take())
		require.Zero(t, i.Status().Unindexed)
	})
}
