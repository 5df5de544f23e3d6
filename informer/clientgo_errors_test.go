package informer_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/internal/limits"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// D10: a watch error handler gets the errors of all goroutines, one call at a time: it needs no lock.
func TestContract_D10_OneCallOfTheWatchErrorHandlerAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const sources = 20
		var all []reflector.Source
		for n := range sources {
			s := rig.NewScript("10")
			s.Fail(fmt.Errorf("source %d is down", n))
			all = append(all, rig.SourceOf(s))
		}
		i := informer.Join(all, informer.Options[*corev1.Pod]{Observe: rig.Observed})
		recorded, calls := map[string]int{}, atomic.Int64{} // the race detector watches over the map
		gate := make(chan struct{})
		require.NoError(t, i.Shared().SetWatchErrorHandler(func(_ *cache.Reflector, err error) {
			calls.Add(1)
			<-gate
			_, which, _ := strings.Cut(err.Error(), "source")
			recorded[which]++
		}))
		rig.Start(t, i)
		synctest.Wait()
		require.EqualValues(t, 1, calls.Load(), "the others wait for the call to return")
		require.Equal(t, sources, i.Status().Errors)
		close(gate)
		synctest.Wait()
		require.Len(t, recorded, sources)
	})
}

// D10: while a call of the watch error handler hangs, the other sources go on. Errors that are too many
// to wait are dropped, and the next call says how many.
func TestContract_D10_AWatchErrorHandlerThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down, poisoned := rig.NewScript("10"), rig.NewScript("10")
		down.Fail(errors.New("down"))
		i := informer.Join([]reflector.Source{rig.SourceOf(down), rig.SourceOf(poisoned)}, informer.Options[*corev1.Pod]{Observe: rig.Observed, Transform: rig.FailByLabel})
		gate := make(chan struct{})
		var recorded []string
		require.NoError(t, i.Shared().SetWatchErrorHandler(func(_ *cache.Reflector, err error) {
			<-gate
			recorded = append(recorded, err.Error())
		}))
		rig.Start(t, i)
		synctest.Wait()
		const failing = limits.MostWaiting + 500
		for n := range failing {
			poisoned.Send(watch.Added, kit.Pod(fmt.Sprint("p", n), fmt.Sprint(n+11), rig.Sick))
		}
		poisoned.Send(watch.Added, kit.Pod("good", "5000"))
		synctest.Wait()
		require.Equal(t, 1, i.Indexer().Len(), "the source that is watched goes on")
		require.Equal(t, failing, i.Status().Quarantined)
		close(gate)
		synctest.Wait()
		require.Len(t, recorded, limits.MostWaiting)
		require.Contains(t, recorded[0], "down")
		require.Contains(t, recorded[1], "501 further errors were dropped")
		for _, err := range recorded[2:] {
			require.NotContains(t, err, "dropped", "counted once")
		}
	})
}

// A watch error handler may do what fails: its own error is passed to it after the call.
func TestAWatchErrorHandlerThatCausesAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("10", kit.Pod("a", "1"))
		i := newShared(kit.ListerWatcher{Source: s}, &corev1.Pod{}, 0, nil)
		busy, recorded := false, 0
		require.NoError(t, i.SetWatchErrorHandler(func(*cache.Reflector, error) {
			require.False(t, busy)
			busy, recorded = true, recorded+1
			if recorded == 1 {
				fails := func(any) ([]string, error) { return nil, rig.ErrPoison }
				require.NoError(t, i.AddIndexers(cache.Indexers{"fails": fails}))
			}
			busy = false
		}))
		startClientgo(t, i)
		synctest.Wait()
		s.Fail(rig.ErrPoison)
		s.Expire()
		synctest.Wait()
		require.GreaterOrEqual(t, recorded, 2)
	})
}
