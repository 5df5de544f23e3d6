package engine_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/internal/delivery"
	"github.com/tidemark-k8s/tidemark/informer/internal/measure"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

// measuresOfOne returns the measures of an informer's only handler.
func measuresOfOne(t *testing.T, i *informer.Inspector) informer.HandlerMeasures {
	t.Helper()
	all := i.Handlers()
	require.Len(t, all, 1)
	return all[0]
}

// pass lets virtual time pass.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestTheLagIsTheAgeOfTheOldestEventThatWaits(t *testing.T) {
	for _, delivery := range rig.Deliveries {
		synctest.Test(t, func(t *testing.T) {
			f, h := newTestCore(t, informer.Options[*corev1.Pod]{}, 1), rig.NewGated()
			f.register(h, informer.HandlerOptions{Delivery: delivery})
			f.start()
			i := f.Inspector()
			require.Zero(t, measuresOfOne(t, i).Lag, "nothing is to be delivered")

			f.list("1", kit.Pod("a", "1"), kit.Pod("b", "1"))
			pass(10 * time.Second)
			h.Pass()
			require.Equal(t, 10*time.Second, measuresOfOne(t, i).Lag, "of the initial state")
			h.Pass()
			require.Zero(t, measuresOfOne(t, i).Lag)

			f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "2")))
			pass(30 * time.Second)
			f.apply(deltaOf(deltafifo.Modified, kit.Pod("b", "3")))
			pass(30 * time.Second)
			require.InDelta(t, time.Minute, measuresOfOne(t, i).Lag, float64(time.Second))
			h.Pass()
			require.InDelta(t, 30*time.Second, measuresOfOne(t, i).Lag, float64(time.Second))
			h.Open()
			synctest.Wait()
			require.Zero(t, measuresOfOne(t, i).Lag)
		})
	}
}

// The lag goes down while a slow handler works on a burst: an event counts no longer, at the latest
// a second after its call.
func TestTheLagOfASlowHandlerGoesDownWithinABurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
		r := f.register(informer.HandlerFunc[*corev1.Pod](func(c informer.Change[*corev1.Pod]) {
			if !c.Initial {
				time.Sleep(2 * time.Second)
			}
		}), informer.HandlerOptions{})
		f.start()
		i := f.Inspector()
		f.list("1")
		synctest.Wait()
		for n := range 20 {
			f.apply(deltaOf(deltafifo.Added, kit.Pod(fmt.Sprint("pod-", n), fmt.Sprint(n+2))))
			pass(time.Second)
		}
		pass(10 * time.Second)
		require.InDelta(t, 5, r.Backlog(), 1, "30 s for 15 of 20")
		require.InDelta(t, 15*time.Second, measuresOfOne(t, i).Lag, float64(2*time.Second))
	})
}

func TestAnEventThatWaitedBeforeCountsFromTheBeginningOfTheMeasuring(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := newTestCore(t, informer.Options[*corev1.Pod]{}, 1), rig.NewGated()
		f.register(h, informer.HandlerOptions{})
		f.start()
		f.list("1")
		f.apply(deltaOf(deltafifo.Added, kit.Pod("a", "2")))
		pass(time.Hour)
		i := f.Inspector()
		pass(10 * time.Second)
		m := measuresOfOne(t, i)
		require.InDelta(t, 10*time.Second, m.Lag, float64(time.Millisecond))
		require.InDelta(t, 10*time.Second, time.Since(m.Calling), float64(time.Millisecond), "it has been in a call for as long")
		require.Len(t, m.Slowest, 1)
		require.Empty(t, m.Slowest[0].Key, "the key was not recorded, because nothing inspected the informer then")
		h.Open()
		synctest.Wait()
		m = measuresOfOne(t, i)
		require.Zero(t, m.Calling)
		require.Zero(t, m.Lag)
	})
}

func TestAHandlerThatIsStuckIsSeenInItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := newTestCore(t, informer.Options[*corev1.Pod]{}, 1), rig.NewGated()
		f.register(h, informer.HandlerOptions{})
		f.start()
		i := f.Inspector()
		f.list("1", kit.Pod("a", "1"), kit.Pod("b", "1"), kit.Pod("c", "1"))
		synctest.Wait()
		h.Pass()
		since := time.Now()
		pass(500 * time.Millisecond)
		require.Zero(t, measuresOfOne(t, i).Calling, "not yet")
		pass(time.Minute)
		m := measuresOfOne(t, i)
		require.Equal(t, since, m.Calling)
		require.EqualValues(t, 1, m.Sampled, "the call that has not returned does not count yet")
		took := time.Since(since)
		require.Equal(t, informer.SlowCall{Key: rig.Named("b"), At: since, Took: took}, m.Slowest[0])

		h.Open()
		synctest.Wait()
		m = measuresOfOne(t, i)
		require.Zero(t, m.Calling)
		require.EqualValues(t, 3, m.Sampled)
		require.Equal(t, took, m.Took)
		require.Equal(t, informer.SlowCall{Key: rig.Named("b"), At: since, Took: took}, m.Slowest[0])
		pass(measure.KeepFor + time.Second)
		require.Empty(t, measuresOfOne(t, i).Slowest, "of the last 15 minutes")
	})
}

func TestTheSlowestCallsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
		took := time.Duration(0)
		f.register(informer.HandlerFunc[*corev1.Pod](func(c informer.Change[*corev1.Pod]) {
			took = (took + 700*time.Millisecond) % time.Second
			time.Sleep(took)
		}), informer.HandlerOptions{})
		f.start()
		i := f.Inspector()
		f.list("1")
		for n := range 20 {
			f.apply(deltaOf(deltafifo.Added, kit.Pod(fmt.Sprint("pod-", n), fmt.Sprint(n+2))))
		}
		pass(20 * time.Second)
		m := measuresOfOne(t, i)
		require.EqualValues(t, 20, m.Sampled)
		require.Equal(t, 9*time.Second, m.Took)
		require.Len(t, m.Slowest, measure.MostSlow)
		for n, want := range []int{900, 900, 800, 800, 700} {
			require.Equal(t, time.Duration(want)*time.Millisecond, m.Slowest[n].Took)
		}
		require.Equal(t, rig.Named("pod-6"), m.Slowest[0].Key)
	})
}

// The present call comes first, though longer ones have returned.
func TestThePresentCallComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
		took := time.Minute
		f.register(informer.HandlerFunc[*corev1.Pod](func(informer.Change[*corev1.Pod]) {
			time.Sleep(took)
			took -= time.Second
		}), informer.HandlerOptions{})
		f.start()
		i := f.Inspector()
		f.list("1")
		for n := range measure.MostSlow + 1 {
			f.apply(deltaOf(deltafifo.Added, kit.Pod(fmt.Sprint("pod-", n), fmt.Sprint(n+2))))
		}
		pass(measure.MostSlow * time.Minute)
		m := measuresOfOne(t, i)
		require.NotZero(t, m.Calling)
		require.Len(t, m.Slowest, measure.MostSlow)
		require.Equal(t, rig.Named("pod-5"), m.Slowest[0].Key)
		require.Equal(t, rig.Named("pod-0"), m.Slowest[1].Key)
	})
}

func TestABatchIsOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
		f.joinsBatch(func(informer.Batch[*corev1.Pod]) { time.Sleep(time.Second) }, 10, informer.HandlerOptions{})
		f.start()
		i := f.Inspector()
		var pods []*corev1.Pod
		for n := range 20 {
			pods = append(pods, kit.Pod(fmt.Sprint("pod-", n), "1"))
		}
		f.list("1", pods...)
		pass(time.Minute)
		m := measuresOfOne(t, i)
		require.EqualValues(t, 2, m.Sampled)
		require.Equal(t, 2*time.Second, m.Took)
		require.EqualValues(t, 20, f.Status().Handlers[0].Delivered)
	})
}

// A call that fails counts as a call, and its change counts as delivered.
func TestAHandlerThatFailsIsMeasured(t *testing.T) {
	kit.SurvivePanics(t)
	synctest.Test(t, func(t *testing.T) {
		f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
		f.register(informer.HandlerFunc[*corev1.Pod](func(c informer.Change[*corev1.Pod]) {
			time.Sleep(time.Second)
			_, _ = rig.FailByLabel(kit.Pod("x", "1", kit.Label("poison", c.New.Labels["poison"])))
		}), informer.HandlerOptions{})
		f.start()
		i := f.Inspector()
		f.list("1", kit.Pod("a", "1", kit.Label("poison", "panic")), kit.Pod("b", "1", kit.Label("poison", "panic")), kit.Pod("c", "1"))
		pass(time.Minute)
		m := measuresOfOne(t, i)
		require.EqualValues(t, 3, m.Sampled)
		require.Equal(t, 3*time.Second, m.Took)
		require.Zero(t, m.Calling)
		require.EqualValues(t, 3, f.Status().Handlers[0].Delivered)
	})
}

// aFlood returns a core with an inspected handler that takes no time, except for the pod stuckOn,
// on which it waits at the gate. The adds of the pods "0" to n-1 have gathered behind a first call,
// and the handler then gets them in bursts.
func aFlood(t *testing.T, n int, stuckOn string) (f *testCore, gate chan struct{}) {
	f, gate = newTestCore(t, informer.Options[*corev1.Pod]{}, 1), make(chan struct{})
	f.register(informer.HandlerFunc[*corev1.Pod](func(c informer.Change[*corev1.Pod]) {
		if c.New.Name == "first" || c.New.Name == stuckOn {
			<-gate
		}
	}), informer.HandlerOptions{})
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
	synctest.Test(t, func(t *testing.T) {
		f, _ := aFlood(t, 64*delivery.Burst, "nothing")
		m := measuresOfOne(t, f.Inspector())
		require.EqualValues(t, 64*delivery.Burst+1, f.Status().Handlers[0].Delivered)
		require.EqualValues(t, 64*delivery.Burst+1, m.Sampled)
	})
}

// A quick handler that gets stuck is noticed in any event of any burst, with the object.
func TestAQuickHandlerThatGetsStuckIsSeen(t *testing.T) {
	for _, on := range []int{0, 1, 40, 64 + 40, 10*64 - 1, 10 * 64, 12*64 - 1} {
		t.Run(fmt.Sprint("in event ", on), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, gate := aFlood(t, 12*64, fmt.Sprint(on))
				since := time.Now()
				pass(time.Minute)
				m := measuresOfOne(t, f.Inspector())
				require.Equal(t, since, m.Calling)
				require.Equal(t, informer.SlowCall{Key: rig.Named(fmt.Sprint(on)), At: since, Took: time.Minute}, m.Slowest[0])
				close(gate)
				pass(time.Second)
				m = measuresOfOne(t, f.Inspector())
				require.Zero(t, m.Calling)
				require.Zero(t, m.Lag)
				require.Equal(t, informer.SlowCall{Key: rig.Named(fmt.Sprint(on)), At: since, Took: time.Minute}, m.Slowest[0])
				require.Equal(t, time.Minute, m.Took)
			})
		})
	}
}

// The calls of a handler that was quick and becomes slow show in its measures and its backlog.
func TestAHandlerThatBecomesSlowIsSeenInEachCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, slow := newTestCore(t, informer.Options[*corev1.Pod]{}, 1), false
		f.register(informer.HandlerFunc[*corev1.Pod](func(c informer.Change[*corev1.Pod]) {
			if slow = slow || c.New.Name == "200"; slow {
				time.Sleep(600 * time.Millisecond)
			}
		}), informer.HandlerOptions{})
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
