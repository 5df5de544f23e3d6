package informer

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
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

func TestEachCallIsTimed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f, _ := aFlood(t, 64*burst, "nothing")
		m := measuresOfOne(t, f.Inspector())
		require.EqualValues(t, 64*burst+1, f.Status().Handlers[0].Delivered)
		require.EqualValues(t, 64*burst+1, m.Sampled)
	})
}

// A quick handler that gets stuck is noticed in any event of any burst, with the object.
func TestAQuickHandlerThatGetsStuckIsSeen(t *testing.T) {
	for _, on := range []int{0, 1, 40, 64 + 40, 10*64 - 1, 10 * 64, 12*64 - 1} {
		t.Run(fmt.Sprint("in event ", on), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				f, gate := aFlood(t, 12*64, fmt.Sprint(on))
				since := time.Now()
				pass(time.Minute)
				m := measuresOfOne(t, f.Inspector())
				require.Equal(t, since, m.Calling)
				require.Equal(t, SlowCall{Key: named(fmt.Sprint(on)), At: since, Took: time.Minute}, m.Slowest[0])
				close(gate)
				pass(time.Second)
				m = measuresOfOne(t, f.Inspector())
				require.Zero(t, m.Calling)
				require.Zero(t, m.Lag)
				require.Equal(t, SlowCall{Key: named(fmt.Sprint(on)), At: since, Took: time.Minute}, m.Slowest[0])
				require.Equal(t, time.Minute, m.Took)
			})
		})
	}
}

// The calls of a handler that was quick and becomes slow show in its measures and its backlog.
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
		require.InDelta(t, 200+100, f.Status().Handlers[0].Delivered, 3)
		require.InDelta(t, time.Minute, measuresOfOne(t, i).Took, float64(2*time.Second))
		pass(2 * time.Minute)
		require.Zero(t, f.Status().Handlers[0].Backlog)
	})
}
