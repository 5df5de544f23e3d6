package informer

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// starts begins a run of an informer that may run again. cancel ends the run, and wait returns
// after its end.
func starts(t *testing.T, i *Informer[*corev1.Pod]) (cancel func(), wait func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended, err := i.Start(ctx)
	require.NoError(t, err)
	wait = func() { require.NoError(t, ended()) }
	t.Cleanup(func() { cancel(); wait() })
	synctest.Wait()
	return cancel, wait
}

// D24: when an informer runs again, its handlers stay and get only the difference.
func TestContract_D24_ARestartTellsTheDifference(t *testing.T) {
	for _, delivery := range deliveries {
		bubble(t, func(t *testing.T) {
			s := newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"), kit.Pod("c", "3"))
			i, j := New(s, Options[*corev1.Pod]{Observe: observed}), &journal{}
			reg, err := i.Handle(j, HandlerOptions{Delivery: delivery})
			require.NoError(t, err)
			cancel, wait := starts(t, i)
			require.Len(t, j.take(), 3)
			_, err = i.Start(t.Context())
			require.ErrorIs(t, err, ErrRunning)
			cancel()
			wait()
			st := i.Status()
			require.True(t, st.Stopped && !st.Running && st.Synced && !st.Watching)
			require.True(t, closed(i.Done()) && closed(i.Synced()) && closed(reg.Done()))
			require.Equal(t, 3, i.Indexer().Len(), "it stays readable")
			require.ErrorIs(t, i.Run(t.Context()), ErrStopped)

			time.Sleep(time.Hour)
			s.Set("20", kit.Pod("a", "1"), kit.Pod("b", "12"), kit.Pod("d", "13"))
			cancel, wait = starts(t, i)
			require.False(t, closed(i.Done()))
			require.False(t, closed(reg.Done()))
			require.Equal(t, []string{"lost c@3", "update b@2 b@12", "add d@13"}, j.take())
			require.True(t, i.Status().Running && i.Status().Watching && !i.Status().Stopped)
			s.Send(watch.Modified, kit.Pod("a", "21"))
			require.Equal(t, []string{"update a@1 a@21"}, j.take())
			reg.Stop()
			cancel()
			wait()
			starts(t, i)
			require.Empty(t, j.take(), "one that was stopped stays so")
			require.True(t, closed(reg.Done()))
		})
	}
}

// A handler that is still in a call of the previous run is not called concurrently by the next run.
func TestARestartDoesNotRunAHandlerTwice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		i := New(newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2")), Options[*corev1.Pod]{Observe: observed})
		gate := make(chan struct{})
		var inside, most atomic.Int32
		_, err := i.Handle(HandlerFunc[*corev1.Pod](func(Change[*corev1.Pod]) {
			most.Store(max(most.Load(), inside.Add(1)))
			<-gate
			inside.Add(-1)
		}), HandlerOptions{})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		wait, err := i.Start(ctx)
		require.NoError(t, err)
		synctest.Wait()
		cancel()
		synctest.Wait()
		time.Sleep(time.Second)
		require.True(t, i.Status().Stopped, "but for the handler, which is stuck")
		again, stop := context.WithCancel(t.Context())
		waitAgain, err := i.Start(again)
		synctest.Wait()
		stop()
		close(gate)
		require.NoError(t, wait())
		if err == nil {
			require.NoError(t, waitAgain())
		}
		require.LessOrEqual(t, most.Load(), int32(1))
	})
}

// After a restart, the first list may come from a server cache that is behind. If the store takes
// over the list, it also takes over the list's version.
func TestARestartDoesNotClaimAVersionThatItDoesNotHold(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScript("10", kit.Pod("a", "9"))
		i := New(s, Options[*corev1.Pod]{Observe: observed})
		cancel, wait := starts(t, i)
		cancel()
		wait()
		s.Set("5", kit.Pod("a", "3"))
		starts(t, i)
		require.Equal(t, "3", stored(t, i, "a").ResourceVersion)
		require.Equal(t, "5", i.Indexer().Version())
	})
}

// A store of several sources is synced when all sources are, and its version is the lowest of the
// sources' versions.
func TestSourcesOfOneStore(t *testing.T) {
	bubble(t, func(t *testing.T) {
		in := func(ns string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Namespace = ns } }
		one, two := newScript("10", kit.Pod("a", "1", in("one"))), newScript("20", kit.Pod("a", "2", in("two")))
		two.Fail(errPoison)
		i, j := Join([]reflector.Source{one, two}, Options[*corev1.Pod]{Observe: observed}), &journal{}
		reg, err := i.Handle(j, HandlerOptions{})
		require.NoError(t, err)
		start(t, i)
		require.Equal(t, []string{"initial a@1"}, j.take())
		require.False(t, closed(i.Synced()) || closed(reg.Synced()) || i.Status().Watching)
		require.Empty(t, i.Indexer().Version())
		late := &journal{}
		lateReg, err := i.Handle(late, HandlerOptions{Delivery: Latest})
		require.NoError(t, err)
		require.Equal(t, []string{"initial a@1"}, late.take())
		require.False(t, closed(lateReg.Synced()))
		two.Fail(nil)
		require.NoError(t, i.WaitSynced(t.Context()))
		require.Equal(t, []string{"initial a@2"}, j.take(), "of the initial state too")
		require.Equal(t, []string{"initial a@2"}, late.take())
		require.True(t, closed(reg.Synced()) && closed(lateReg.Synced()))
		require.Equal(t, "10", i.Indexer().Version(), "the lowest")
		two.Send(watch.Modified, kit.Pod("a", "21", in("two")))
		require.Equal(t, []string{"update a@2 a@21"}, j.take())
		require.Equal(t, "10", i.Indexer().Version())
		one.Set("30")
		one.Expire()
		require.Equal(t, []string{"lost a@1"}, j.take(), "a relist sweeps its own part only")
		require.Equal(t, "21", i.Indexer().Version())
		require.True(t, i.Status().Watching)
		require.Equal(t, 1, i.Status().Relists)
	})
}

// RunOptions.Stopped is called when the informer may be started again, and RunOptions.Returned when
// the run's last handler has returned.
func TestARunCallsItsOptions(t *testing.T) {
	bubble(t, func(t *testing.T) {
		i := New(newScript("10", kit.Pod("a", "1")), Options[*corev1.Pod]{Observe: observed})
		busy := make(chan struct{})
		_, err := i.Handle(Funcs[*corev1.Pod]{Added: func(*corev1.Pod) { <-busy }}, HandlerOptions{})
		require.NoError(t, err)
		shared := i.Shared().(Shared)
		var stopped, returned atomic.Int32
		counts := func() [2]int32 { return [2]int32{stopped.Load(), returned.Load()} }
		ctx, cancel := context.WithCancel(t.Context())
		_, err = shared.Start(ctx, RunOptions{Stopped: func(error) { stopped.Add(1) }, Returned: func() { returned.Add(1) }})
		require.NoError(t, err)
		_, err = shared.Start(ctx, RunOptions{})
		require.ErrorIs(t, err, ErrRunning)
		synctest.Wait()
		cancel()
		synctest.Wait()
		require.Equal(t, [2]int32{1, 0}, counts(), "the handler is busy")
		ctx, cancel = context.WithCancel(t.Context())
		_, err = shared.Start(ctx, RunOptions{Stopped: func(error) { stopped.Add(1) }, Returned: func() { returned.Add(1) }})
		require.NoError(t, err)
		close(busy)
		synctest.Wait()
		require.Equal(t, [2]int32{1, 1}, counts(), "of the first run")
		cancel()
		synctest.Wait()
		require.Equal(t, [2]int32{2, 2}, counts())
	})
}

// A run with RunOptions.ReuseNothing replaces all stored objects, even if their versions are unchanged.
func TestARunAnew(t *testing.T) {
	bubble(t, func(t *testing.T) {
		i, j := New(newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2")), Options[*corev1.Pod]{Observe: observed}), &journal{}
		j.mustHandle(t, i)
		for _, test := range []struct {
			anew bool
			want []string
		}{
			{false, []string{"initial a@1", "initial b@2"}},
			{false, nil},
			{true, []string{"update a@1 a@1", "update b@2 b@2"}},
			{false, nil},
		} {
			ctx, cancel := context.WithCancel(t.Context())
			_, err := i.Shared().(Shared).Start(ctx, RunOptions{ReuseNothing: test.anew})
			require.NoError(t, err)
			require.NoError(t, i.WaitFresh(ctx))
			synctest.Wait()
			require.ElementsMatch(t, test.want, j.take())
			require.Equal(t, 2, i.Indexer().Len())
			cancel()
			synctest.Wait()
			require.ErrorIs(t, i.WaitFresh(t.Context()), ErrStopped)
		}
	})
}
