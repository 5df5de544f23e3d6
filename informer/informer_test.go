package informer_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

func TestAnInformerFromListToHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
		i := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Observe: rig.Observed})
		early := &rig.Journal{}
		reg, err := i.Handle(early, informer.HandlerOptions{})
		require.NoError(t, err)
		rig.Start(t, i)
		require.NoError(t, i.WaitSynced(t.Context()))
		require.ElementsMatch(t, []string{"initial a@1", "initial b@2"}, early.Take())
		<-reg.Synced()

		s.Send(watch.Modified, kit.Pod("a", "11"))
		s.Send(watch.Added, kit.Pod("c", "12"))
		s.Send(watch.Deleted, kit.Pod("b", "13"))
		require.Equal(t, []string{"update a@1 a@11", "add c@12", "delete b@13"}, early.Take())
		require.Equal(t, "13", i.Indexer().Version())
		require.NoError(t, i.WaitDelivered(t.Context(), "13"))

		late := &rig.Journal{}
		_, err = i.Handle(late, informer.HandlerOptions{})
		require.NoError(t, err)
		require.ElementsMatch(t, []string{"initial a@11", "initial c@12"}, late.Take())

		s.Set("20", kit.Pod("c", "12"), kit.Pod("d", "15"), kit.Pod("a", "16"))
		s.Expire()
		want := []string{"add d@15", "update a@11 a@16"}
		require.Equal(t, want, early.Take(), "nothing of what did not change")
		require.Equal(t, want, late.Take())

		s.Set("30", kit.Pod("d", "15"))
		s.Expire()
		synctest.Wait()
		got, ok := i.Indexer().Get(indexer.Key{Namespace: "default", Name: "d"})
		require.True(t, ok)
		require.Equal(t, "15", got.ResourceVersion)
		st := i.Status()
		require.True(t, st.Synced && st.Running)
		require.Equal(t, 0, st.Quarantined)
	})
}
