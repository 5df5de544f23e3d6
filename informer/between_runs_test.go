package informer

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// A handler that is added between two runs receives the stored objects when the next run begins.
func TestAHandlerMayBeAddedBetweenRuns(t *testing.T) {
	for _, delivery := range deliveries {
		bubble(t, func(t *testing.T) {
			s := newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
			i := New(s, Options[*corev1.Pod]{Observe: observed})
			cancel, wait := starts(t, i)
			cancel()
			wait()

			between, leaves := &journal{}, &journal{}
			reg, err := i.Handle(between, HandlerOptions{Delivery: delivery})
			require.NoError(t, err)
			left, err := i.Handle(leaves, HandlerOptions{Delivery: delivery})
			require.NoError(t, err)
			require.Empty(t, between.take(), "nothing is told while nothing runs")
			require.True(t, closed(reg.Done()))
			require.False(t, closed(reg.Synced()))
			left.Stop()

			s.Set("20", kit.Pod("a", "1"), kit.Pod("c", "13"))
			cancel, wait = starts(t, i)
			lines := between.take()
			require.ElementsMatch(t, []string{"initial a@1", "initial b@2"}, lines[:2], "what is held")
			require.Equal(t, []string{"lost b@2", "add c@13"}, lines[2:], "and what comes of the next list")
			require.True(t, closed(reg.Synced()))
			require.False(t, closed(reg.Done()))
			s.Send(watch.Modified, kit.Pod("a", "21"))
			require.Equal(t, []string{"update a@1 a@21"}, between.take())
			cancel()
			wait()
			require.True(t, closed(reg.Done()))
			require.Empty(t, leaves.take())
			require.Empty(t, left.Backlog())
		})
	}
}

// A handler that is added between two runs, before anything was listed, receives the next run's
// first list.
func TestAHandlerThatIsAddedBeforeAnythingWasListed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScript("10", kit.Pod("a", "1"))
		s.Fail(errPoison)
		i, j := New(s, Options[*corev1.Pod]{Observe: observed}), &journal{}
		cancel, wait := starts(t, i)
		cancel()
		wait()
		_, err := i.Handle(j, HandlerOptions{})
		require.NoError(t, err)
		s.Fail(nil)
		starts(t, i)
		require.Equal(t, []string{"initial a@1"}, j.take())
	})
}

// A handler may be added after a run has stopped, while another handler is still in a call.
func TestAHandlerMayBeAddedWhileAnotherHoldsUpTheEnd(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, h := newScript("10", kit.Pod("a", "1")), newGated()
		i := New(s, Options[*corev1.Pod]{Observe: observed})
		_, err := i.Handle(h, HandlerOptions{})
		require.NoError(t, err)
		cancel, wait := starts(t, i)
		cancel()
		time.Sleep(time.Second)
		require.True(t, i.Status().Stopped)
		j := &journal{}
		_, err = i.Handle(j, HandlerOptions{})
		require.NoError(t, err)
		h.open()
		wait()
		require.Empty(t, j.take())
		starts(t, i)
		require.Equal(t, []string{"initial a@1"}, j.take())
	})
}

// Between two runs, Handle accepts a handler. AddEventHandler refuses it, because client-go's API
// knows no next run.
func TestAHandlerIsRefusedWhereThereIsNoNextRun(t *testing.T) {
	bubble(t, func(t *testing.T) {
		i, _ := startWithJournal(t, newScript("10", kit.Pod("a", "1")), Options[*corev1.Pod]{})
		again := New(newScript("10", kit.Pod("a", "1")), Options[*corev1.Pod]{Observe: observed})
		cancel, wait := starts(t, again)
		cancel()
		wait()
		_, err := again.Shared().AddEventHandler(cache.ResourceEventHandlerFuncs{})
		require.ErrorIs(t, err, ErrStopped)
		_, err = again.Handle(&journal{}, HandlerOptions{})
		require.NoError(t, err)

		_, err = i.Handle(&journal{}, HandlerOptions{})
		require.NoError(t, err, "it runs")
		synctest.Wait()
	})
}
