package informer

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// client-go's API accepts a handler between two runs if the second run follows at once, and refuses
// it if no run follows.
func TestAHandlerIsTakenBetweenTwoRuns(t *testing.T) {
	bubble(t, func(t *testing.T) {
		i := New(newScript("10", kit.Pod("a", "1")), Options[*corev1.Pod]{Observe: observed})
		shared := i.Shared().(Shared)
		between, goOn := make(chan struct{}), make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		again, end := context.WithCancel(t.Context())
		_, err := shared.Start(ctx, RunOptions{Stopped: func(error) {
			close(between)
			<-goOn
			_, _ = shared.Start(again, RunOptions{})
		}})
		require.NoError(t, err)
		synctest.Wait()
		cancel()
		<-between
		added := make(chan error, 1)
		r := &kit.Recorder{}
		go func() {
			_, err := shared.AddEventHandler(r.Handler())
			added <- err
		}()
		pends(t, added)
		close(goOn)
		require.NoError(t, <-added)
		require.Equal(t, []string{"initial a@1"}, r.Take())
		end()
		synctest.Wait()
		_, err = shared.AddEventHandler(cache.ResourceEventHandlerFuncs{})
		require.ErrorIs(t, err, ErrStopped, "no run follows")
	})
}

// A list ends Status.NotServedSince, even without reflector.Served: the reflector of the next run
// does not know that the resource was missing.
func TestNotServedSinceEndsWithAList(t *testing.T) {
	bubble(t, func(t *testing.T) {
		i := New(newScript("10"), Options[*corev1.Pod]{Observe: observed})
		i.core.status.reflected(0, reflector.NotServed{Err: reflector.ErrNotServed})
		require.False(t, i.Status().NotServedSince.IsZero())
		i.core.status.reflected(0, reflector.Listed{})
		require.True(t, i.Status().NotServedSince.IsZero())
	})
}

// RunOptions.ReuseNothing does not begin a new history: of an object that two sources report, the newer
// version stays.
func TestABeginningAnewLeavesTheNewerObjectOfAnotherSource(t *testing.T) {
	j := &joined{testCore: newTestCore(t, Options[*corev1.Pod]{}, 2)}
	j.run.options.ReuseNothing = true
	for source := range 2 {
		j.in = append(j.in, newInformerSink(j.core, j.run, uint16(source)))
	}
	j.beginReplace(1, reflector.SameHistory)
	j.tell(1, deltaOf(deltafifo.Added, kit.Pod("a", "15")))
	j.commitReplace(1, "20")
	j.beginReplace(0, reflector.SameHistory)
	j.tell(0, deltaOf(deltafifo.Added, kit.Pod("a", "5")), deltaOf(deltafifo.Added, kit.Pod("b", "6")))
	j.commitReplace(0, "10")
	a, _ := podsIn(j.core).Get(indexer.Key{Namespace: "default", Name: "a"})
	require.Equal(t, "15", a.ResourceVersion)
	j.tell(0, deltaOf(deltafifo.Deleted, kit.Pod("a", "15")))
	require.Equal(t, 2, j.writer.Indexer().Len())
}
