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
)

// D7: an object that the transform renames is quarantined (D3), wherever it comes from. The error has both
// keys, and no object is stored under the other one.
func TestContract_D7_AnObjectThatTheTransformRenamesIsQuarantined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, seen := rig.NewScript("10", kit.Pod("a", "1", rig.AsX), kit.Pod("b", "2"), kit.Pod("x", "3")), rig.NewEvents()
		i, j := rig.StartWithJournal(t, s, informer.Options[*corev1.Pod]{Transform: rig.Rename, Observe: seen.Observe})
		require.ElementsMatch(t, []string{"initial b@2", "initial x@3"}, j.Take())
		recorded := rig.Of[*informer.QuarantineError](seen)
		require.Len(t, recorded, 1)
		require.Equal(t, rig.Named("a"), recorded[0].Key)
		require.ErrorIs(t, recorded[0], informer.ErrTransform)
		require.ErrorContains(t, recorded[0], `object "default/a" is quarantined`)
		require.ErrorContains(t, recorded[0], `it renamed the object to "default/x"`)
		require.Equal(t, rig.Named("a"), i.Inspector().Quarantined()[0].Key)

		s.Send(watch.Modified, kit.Pod("a", "11"))
		require.Equal(t, []string{"add a@11"}, j.Take(), "tried again with its next event")
		require.Zero(t, i.Status().Quarantined)
		s.Send(watch.Modified, kit.Pod("a", "12", rig.AsX))
		require.Empty(t, j.Take())
		require.Equal(t, "11", rig.Stored(t, i, "a").ResourceVersion, "the earlier version stays")
		require.Equal(t, "3", rig.Stored(t, i, "x").ResourceVersion)
		s.Set("20", kit.Pod("a", "12", rig.AsX), kit.Pod("x", "3"))
		s.Expire()
		require.Equal(t, []string{"lost b@2"}, j.Take())
		require.Equal(t, 1, i.Status().Quarantined)
		s.Send(watch.Deleted, kit.Pod("a", "21", rig.AsX))
		require.Equal(t, []string{"lost a@11"}, j.Take(), "a delete is a delete")
		require.Zero(t, i.Status().Quarantined)
		require.Equal(t, 1, i.Indexer().Len())
	})
}

// D7: so is one that gets another namespace.
func TestContract_D7_TheNamespaceStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i, j := rig.StartWithJournal(t, rig.NewScript("10", kit.Pod("a", "1")), informer.Options[*corev1.Pod]{Transform: func(p *corev1.Pod) (*corev1.Pod, error) {
			p.Namespace = "elsewhere"
			return p, nil
		}})
		require.Empty(t, j.Take())
		require.Equal(t, 1, i.Status().Quarantined)
		require.ErrorContains(t, i.Inspector().Quarantined()[0].Err, "elsewhere/a")
	})
}
