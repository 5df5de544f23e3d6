package informer_test

import (
	"fmt"
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

// A delete on which the transform fails has the key of the object.
func TestTheKeyOfADeleteThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j := rig.NewScript("10", kit.Pod("a", "1")), &rig.KeyJournal{}
		i := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Transform: rig.Rename, Observe: rig.Observed})
		_, err := i.HandleKeys(j.Handle, informer.HandlerOptions{})
		require.NoError(t, err)
		rig.Start(t, i)
		require.Equal(t, []string{"a"}, j.Take())
		s.Send(watch.Deleted, kit.Pod("a", "12", rig.Sick))
		require.Equal(t, []string{"a"}, j.Take())
	})
}

// The status of a function of keys is that of any handler: its name is its place in the source unless it has
// one.
func TestTheStatusOfAFunctionOfKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s := &rig.KeyJournal{Gate: make(chan struct{})}, rig.NewScript("10", kit.Pod("a", "1"))
		i := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Observe: rig.Observed})
		r, err := i.HandleKeys(j.Handle, informer.HandlerOptions{})
		require.NoError(t, err)
		require.Contains(t, r.Name(), "rig.(*KeyJournal)")
		named, err := i.HandleKeys(func(indexer.Key) {}, informer.HandlerOptions{Name: "keys"})
		require.NoError(t, err)
		require.Equal(t, "keys", named.Name())
		rig.Start(t, i)
		require.Equal(t, []string{"a"}, j.Take())
		for n := range 3 {
			s.Send(watch.Modified, kit.Pod("a", fmt.Sprint(11+n)))
		}
		synctest.Wait()
		h := i.Status().Handlers[0]
		require.False(t, h.Synced)
		require.Equal(t, 4, h.Backlog)
		delivered := rig.Waiting(t.Context(), i, "13")
		rig.Pends(t, delivered)
		close(j.Gate)
		require.NoError(t, <-delivered)
		h = i.Status().Handlers[0]
		require.True(t, h.Synced)
		require.Equal(t, informer.HandlerStatus{Name: r.Name(), Synced: true, Delivered: 4}, h)
		r.Stop()
		<-r.Done()
		require.Len(t, i.Status().Handlers, 1)
	})
}
