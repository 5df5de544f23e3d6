package informer

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// aFlood returns a core with an inspected handler that takes no time, except for the pod stuckOn,
// on which it waits at the gate. The adds of the pods "0" to n-1 have gathered behind a first call,
// and the handler then gets them in bursts.
func aFlood(t *testing.T, n int, stuckOn string) (f *testCore, gate chan struct{}) {
	f, gate = newTestCore(t, Options[*corev1.Pod]{}, 1), make(chan struct{})
	f.register(HandlerFunc[*corev1.Pod](func(c Change[*corev1.Pod]) {
		if c.New.Name == "first" || c.New.Name == stuckOn {
			<-gate
		}
	}), HandlerOptions{})
	f.start()
	f.Inspector()
	f.list("1")
	f.apply(deltaOf(deltafifo.Added, kit.Pod("first", "2")))
	synctest.Wait()
	var adds []deltafifo.Delta
	for i := range n {
		adds = append(adds, deltaOf(deltafifo.Added, kit.Pod(fmt.Sprint(i), fmt.Sprint(i+3))))
	}
	f.apply(adds...)
	gate <- struct{}{}
	synctest.Wait()
	return f, gate
}

func TestQuickCallsAreSampled(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f, _ := aFlood(t, 64*burst, "nothing")
		m := measuresOfOne(t, f.Inspector())
		require.EqualValues(t, 64*burst+1, f.Status().Handlers[0].Told)
		require.InDelta(t, 64*burst/quickShare, m.Sampled, 2*burst)
		require.Less(t, len(m.Slowest), 2, "the first one; of the others nothing is known one by one")
	})
}

// A quick handler that gets stuck is noticed in any event of any burst, whether the burst is timed
// as a whole, not timed, or timed call by call.
func TestAQuickHandlerThatGetsStuckIsSeen(t *testing.T) {
	for _, on := range []int{0, 1, 40, 64 + 40, 10*64 - 1, 10 * 64, 12*64 - 1} {
		t.Run(fmt.Sprint("in event ", on), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				f, gate := aFlood(t, 12*64, fmt.Sprint(on))
				since := time.Now()
				pass(time.Minute)
				m := measuresOfOne(t, f.Inspector())
				require.WithinDuration(t, since, m.Calling, time.Second)
				require.InDelta(t, time.Minute, m.Slowest[0].Took, float64(time.Second))
				if m.Slowest[0].Key.Name != "" {
					require.Equal(t, named(fmt.Sprint(on)), m.Slowest[0].Key)
				}
				close(gate)
				pass(time.Second)
				m = measuresOfOne(t, f.Inspector())
				require.Zero(t, m.Calling)
				require.Zero(t, m.Lag)
				require.Equal(t, named(fmt.Sprint(on)), m.Slowest[0].Key, "it is known when the call has returned")
				require.InDelta(t, time.Minute, m.Slowest[0].Took, float64(time.Second))
				require.InDelta(t, time.Minute, m.Took, float64(time.Second))
			})
		})
	}
}

// If a quick handler that gets single events is stuck, its measures name the object, whether or not
// the call was due to be timed.
func TestAQuickHandlerThatGetsStuckInASingleEventIsSeenWithIt(t *testing.T) {
	for on := range 10 {
		bubble(t, func(t *testing.T) {
			f, gate := aFlood(t, 0, fmt.Sprint(on))
			for n := range on + 1 {
				f.apply(deltaOf(deltafifo.Added, kit.Pod(fmt.Sprint(n), fmt.Sprint(n+3))))
				synctest.Wait()
			}
			pass(time.Minute)
			m := measuresOfOne(t, f.Inspector())
			require.NotZero(t, m.Calling)
			require.Equal(t, named(fmt.Sprint(on)), m.Slowest[0].Key)
			close(gate)
		})
	}
}

func TestSlowCallsOfLongAgoMakeRoom(t *testing.T) {
	var s slowCalls
	for n := range mostSlow {
		s.add(eventlog.Subject{}, time.Duration(n), time.Hour)
	}
	s.add(eventlog.Subject{}, 3*time.Hour, time.Second)
	require.Equal(t, slowCalls{{at: 3 * time.Hour, took: time.Second}}, s)
}

func TestAFeedThatIsClosedCountsNothing(t *testing.T) {
	f := newTestCore(t, Options[*corev1.Pod]{}, 1).processor.newFeed(Every, 1)
	f.close()
	f.progress(1)
	require.Zero(t, f.total())
}

// Each call of a handler that was quick and becomes slow is timed, from a second later at the
// latest.
func TestAHandlerThatBecomesSlowIsSeenInEachCall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f, slow := newTestCore(t, Options[*corev1.Pod]{}, 1), false
		f.register(HandlerFunc[*corev1.Pod](func(c Change[*corev1.Pod]) {
			if slow = slow || c.New.Name == "200"; slow {
				time.Sleep(600 * time.Millisecond)
			}
		}), HandlerOptions{})
		f.Inspector()
		f.list("1")
		for i := range 400 {
			f.apply(deltaOf(deltafifo.Added, kit.Pod(fmt.Sprint(i), fmt.Sprint(i+3))))
		}
		f.start()
		pass(100 * 600 * time.Millisecond)
		i := f.Inspector()
		require.Zero(t, measuresOfOne(t, i).Calling, "none has lasted for a second")
		require.InDelta(t, 100, f.Status().Handlers[0].Backlog, 3)
		require.InDelta(t, 200+100, f.Status().Handlers[0].Told, 3)
		require.InDelta(t, time.Minute, measuresOfOne(t, i).Took, float64(2*time.Second))
		pass(2 * time.Minute)
		require.Zero(t, f.Status().Handlers[0].Backlog)
	})
}
