package informer

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/engine"
	"github.com/tidemark-k8s/tidemark/informer/internal/measure"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// measuresOfOne returns the measures of an informer's only handler.
func measuresOfOne(t *testing.T, i *Inspector) HandlerMeasures {
	t.Helper()
	all := i.Handlers()
	require.Len(t, all, 1)
	require.Equal(t, i.core.Status().Handlers[0].Name, all[0].Name)
	return all[0]
}

// pass lets virtual time pass.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestTheLagIsTheAgeOfTheOldestEventThatWaits(t *testing.T) {
	for _, delivery := range deliveries {
		bubble(t, func(t *testing.T) {
			f, h := newTestCore(t, Options[*corev1.Pod]{}, 1), newGated()
			f.register(h, HandlerOptions{Delivery: delivery})
			f.start()
			i := f.Inspector()
			require.Zero(t, measuresOfOne(t, i).Lag, "nothing is there to be told")

			f.list("1", kit.Pod("a", "1"), kit.Pod("b", "1"))
			pass(10 * time.Second)
			h.pass()
			require.Equal(t, 10*time.Second, measuresOfOne(t, i).Lag, "of the initial state")
			h.pass()
			require.Zero(t, measuresOfOne(t, i).Lag)

			f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "2")))
			pass(30 * time.Second)
			f.apply(deltaOf(deltafifo.Modified, kit.Pod("b", "3")))
			pass(30 * time.Second)
			require.InDelta(t, time.Minute, measuresOfOne(t, i).Lag, float64(time.Second))
			h.pass()
			require.InDelta(t, 30*time.Second, measuresOfOne(t, i).Lag, float64(time.Second))
			h.open()
			synctest.Wait()
			require.Zero(t, measuresOfOne(t, i).Lag)
		})
	}
}

// The lag goes down while a slow handler works on a burst: an event counts no longer, at the latest
// a second after its call.
func TestTheLagOfASlowHandlerGoesDownWithinABurst(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newTestCore(t, Options[*corev1.Pod]{}, 1)
		r := f.register(HandlerFunc[*corev1.Pod](func(c Change[*corev1.Pod]) {
			if !c.Initial {
				time.Sleep(2 * time.Second)
			}
		}), HandlerOptions{})
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
	bubble(t, func(t *testing.T) {
		f, h := newTestCore(t, Options[*corev1.Pod]{}, 1), newGated()
		f.register(h, HandlerOptions{})
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
		require.Empty(t, m.Slowest[0].Key, "nobody has noted of which object")
		h.open()
		synctest.Wait()
		m = measuresOfOne(t, i)
		require.Zero(t, m.Calling)
		require.Zero(t, m.Lag)
	})
}

func TestAHandlerThatIsStuckIsSeenInItsCall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f, h := newTestCore(t, Options[*corev1.Pod]{}, 1), newGated()
		f.register(h, HandlerOptions{})
		f.start()
		i := f.Inspector()
		f.list("1", kit.Pod("a", "1"), kit.Pod("b", "1"), kit.Pod("c", "1"))
		synctest.Wait()
		h.pass()
		since := time.Now()
		pass(500 * time.Millisecond)
		require.Zero(t, measuresOfOne(t, i).Calling, "not yet")
		pass(time.Minute)
		m := measuresOfOne(t, i)
		require.Equal(t, since, m.Calling)
		require.EqualValues(t, 1, m.Sampled, "the call that has not returned does not count yet")
		took := time.Since(since)
		require.Equal(t, SlowCall{Key: named("b"), At: since, Took: took}, m.Slowest[0])

		h.open()
		synctest.Wait()
		m = measuresOfOne(t, i)
		require.Zero(t, m.Calling)
		require.EqualValues(t, 3, m.Sampled)
		require.Equal(t, took, m.Took)
		require.Equal(t, SlowCall{Key: named("b"), At: since, Took: took}, m.Slowest[0])
		pass(measure.KeepFor + time.Second)
		require.Empty(t, measuresOfOne(t, i).Slowest, "of the last 15 minutes")
	})
}

func TestTheSlowestCallsAreKept(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newTestCore(t, Options[*corev1.Pod]{}, 1)
		took := time.Duration(0)
		f.register(HandlerFunc[*corev1.Pod](func(c Change[*corev1.Pod]) {
			took = (took + 700*time.Millisecond) % time.Second
			time.Sleep(took)
		}), HandlerOptions{})
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
		require.Equal(t, named("pod-6"), m.Slowest[0].Key)
	})
}

// The present call comes first, though longer ones have returned.
func TestThePresentCallComesFirst(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newTestCore(t, Options[*corev1.Pod]{}, 1)
		took := time.Minute
		f.register(HandlerFunc[*corev1.Pod](func(Change[*corev1.Pod]) {
			time.Sleep(took)
			took -= time.Second
		}), HandlerOptions{})
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
		require.Equal(t, named("pod-5"), m.Slowest[0].Key)
		require.Equal(t, named("pod-0"), m.Slowest[1].Key)
	})
}

func TestABatchIsOneCall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newTestCore(t, Options[*corev1.Pod]{}, 1)
		to := &batchReceiver[*corev1.Pod]{handle: func(Batch[*corev1.Pod]) { time.Sleep(time.Second) }, n: 10}
		f.receive(to, HandlerOptions{})
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
	bubble(t, func(t *testing.T) {
		f := newTestCore(t, Options[*corev1.Pod]{}, 1)
		f.register(HandlerFunc[*corev1.Pod](func(c Change[*corev1.Pod]) {
			time.Sleep(time.Second)
			_, _ = failByLabel(kit.Pod("x", "1", kit.Label("poison", c.New.Labels["poison"])))
		}), HandlerOptions{})
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

func TestTotalsCountTheChanges(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newTestCore(t, Options[*corev1.Pod]{}, 1)
		f.register(&journal{}, HandlerOptions{})
		f.start()
		f.list("10", kit.Pod("a", "1"), kit.Pod("b", "2"), kit.Pod("c", "3"))
		require.EqualValues(t, 3, f.Status().Totals.Added, "the first full state")
		f.apply(
			deltaOf(deltafifo.Modified, kit.Pod("a", "11")), deltaOf(deltafifo.Modified, kit.Pod("a", "12")),
			deltaOf(deltafifo.Deleted, kit.Pod("b", "13")), deltaOf(deltafifo.Deleted, kit.Pod("nobody", "14")),
			deltaOf(deltafifo.Added, kit.Pod("c", "15", kit.UID("another"))),
			deltafifo.Delta{Op: deltafifo.Bookmark, Version: "16"},
		)
		f.list("20", kit.Pod("a", "12"), kit.Pod("d", "19"))
		totals := f.Status().Totals
		require.EqualValues(t, 5, totals.Added, "and c again, and d")
		require.EqualValues(t, 2, totals.Updated)
		require.EqualValues(t, 3, totals.Deleted, "b, and c twice")
		require.EqualValues(t, 1, totals.Bookmarks)
		require.Len(t, podsIn(f.Core).Keys(), int(totals.Added-totals.Deleted))
		synctest.Wait()
		require.EqualValues(t, 3+2+1+1+2+2, f.Status().Handlers[0].Delivered, "the delete of nobody, too")
		f.register(&journal{}, HandlerOptions{})
		synctest.Wait()
		require.EqualValues(t, 2, f.Status().Handlers[1].Delivered, "the initial state")
		require.Equal(t, totals, f.Status().Totals, "which counts once")
	})
}

func TestRecentAreTheLastChanges(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newTestCore(t, Options[*corev1.Pod]{}, 1)
		f.start()
		i, begun := f.Inspector(), time.Now()
		f.list("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
		require.Empty(t, i.Recent(), "the first full state is told to each handler by itself")
		pass(time.Minute)
		f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "11")), deltaOf(deltafifo.Added, kit.Pod("b", "12", kit.UID("another"))), deltaOf(deltafifo.Deleted, kit.Pod("a", "13")))
		at := begun.Add(time.Minute)
		require.Equal(t, []RecentEvent{
			{at, Updated, named("a"), "11"}, {at, Deleted, named("b"), "2"}, {at, Added, named("b"), "12"}, {at, Deleted, named("a"), "13"},
		}, i.Recent())

		f.list("20", kit.Pod("c", "19"))
		recent := i.Recent()
		require.Equal(t, []RecentEvent{{at, Deleted, named("b"), "12"}, {at, Added, named("c"), "19"}}, recent[len(recent)-2:])
		var many []deltafifo.Delta
		for n := range 1000 {
			many = append(many, deltaOf(deltafifo.Modified, kit.Pod("c", fmt.Sprint(n+100))))
		}
		for _, size := range []int{1000, 1, 199, 200, 201, 320, 321} {
			f.apply(many[:size]...)
			recent = i.Recent()
			require.Len(t, recent, measure.MostRecent)
			require.Equal(t, many[size-1].Version, recent[measure.MostRecent-1].Version)
			require.Equal(t, many[max(0, size-measure.MostRecent)].Version, recent[max(0, measure.MostRecent-size)].Version)
		}
	})
}

func TestHistoryHasAMomentEachFiveSeconds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f, h := newTestCore(t, Options[*corev1.Pod]{}, 1), newGated()
		f.register(h, HandlerOptions{})
		f.list("1", kit.Pod("a", "1"))
		i := f.Inspector()
		pass(time.Minute)
		require.Empty(t, i.History(), "it does not run")
		f.start()
		begun := time.Now()
		f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "2")), deltaOf(deltafifo.Added, kit.Pod("b", "3")))
		pass(12 * time.Second)
		history := i.History()
		require.Len(t, history, 2)
		require.Equal(t, begun.Add(5*time.Second), history[0].At)
		require.EqualValues(t, 2, history[0].Events)
		require.Zero(t, history[1].Events)
		require.Equal(t, 2, history[0].Objects)
		require.Positive(t, history[0].Lag)
		require.InDelta(t, 5*time.Second, history[1].Lag-history[0].Lag, float64(time.Second))
		h.open()
		pass(time.Hour)
		history = i.History()
		require.Len(t, history, measure.MostMoments)
		require.InDelta(t, measure.KeepFor, time.Since(history[0].At), float64(5*time.Second))
		require.Zero(t, history[measure.MostMoments-1].Lag)
	})
}

// The history of an informer that holds objects packed counts how often they were decoded.
func TestHistoryCountsDecodes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		budget := NewBudget(0)
		f := newTestCore(t, Options[*corev1.Pod]{Storage: Storage{Decoded: budget}}, 1)
		f.list("1", kit.Pod("a", "1"))
		read := func(times int) {
			for range times {
				_, ok := f.Writer().Indexer().Get(indexer.Key{Namespace: kit.Pod("a", "1").Namespace, Name: "a"})
				require.True(t, ok)
			}
		}
		read(5)
		i := f.Inspector()
		f.start()
		read(3)
		pass(6 * time.Second)
		read(2)
		pass(6 * time.Second)
		var decodes []uint64
		for _, m := range i.History() {
			decodes = append(decodes, m.Decodes)
		}
		require.Equal(t, []uint64{3, 2}, decodes)
		require.Same(t, budget, f.Status().Storage.Budget)
	})
}

// After a run has ended, no call is measured, even if events still wait for the handler, and the
// history grows old.
func TestAnInformerThatHasStoppedIsInNoCall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newGated()
		i := New(sourceOf(newScript("10", kit.Pod("a", "1"), kit.Pod("b", "1"))), Options[*corev1.Pod]{Observe: observed})
		_, err := i.Handle(h, HandlerOptions{})
		require.NoError(t, err)
		late := New(sourceOf(newScript("10")), Options[*corev1.Pod]{Observe: observed})
		ctx, cancel := context.WithCancel(t.Context())
		ended, err := i.Start(ctx)
		require.NoError(t, err)
		endedToo, err := late.Start(ctx)
		require.NoError(t, err)
		late.Inspector()
		pass(time.Minute)
		require.NotEmpty(t, late.Inspector().History())
		cancel()
		synctest.Wait()
		h.pass()
		require.NoError(t, ended())
		require.NoError(t, endedToo())
		inspector := i.Inspector()
		pass(time.Hour)
		m := measuresOfOne(t, inspector)
		require.Zero(t, m.Calling)
		require.Empty(t, m.Slowest)
		require.Positive(t, m.Lag, "the other event still waits")
		require.Empty(t, late.Inspector().History(), "of the last 15 minutes")
	})
}

func TestQuarantinedTellsOfTheObjectsAndWhy(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newTestCore(t, Options[*corev1.Pod]{Transform: failByLabel}, 1)
		f.start()
		i, begun := f.Inspector(), time.Now()
		f.take(t, deltafifo.Begin)
		f.write(t, deltaOf(deltafifo.Added, kit.Pod("a", "1", kit.Label("poison", "error"))), deltaOf(deltafifo.Added, kit.Pod("b", "1")))
		f.take(t, deltafifo.Commit)
		pass(time.Minute)
		f.write(t, deltaOf(deltafifo.Modified, kit.Pod("a", "2", kit.Label("poison", "panic"))), deltaOf(deltafifo.Modified, kit.Pod("b", "3", kit.Label("poison", "error"))))
		bad := i.Quarantined()
		require.Len(t, bad, 2)
		require.Equal(t, named("a"), bad[0].Key)
		require.Equal(t, begun, bad[0].Since, "it has been so since")
		require.ErrorIs(t, bad[0].Err, ErrTransform)
		require.ErrorContains(t, bad[0].Err, "panic", "the last one")
		require.Equal(t, named("b"), bad[1].Key)
		require.Equal(t, begun.Add(time.Minute), bad[1].Since)
		require.ErrorIs(t, bad[1].Err, errPoison)

		f.write(t, deltaOf(deltafifo.Modified, kit.Pod("a", "4")))
		require.Len(t, i.Quarantined(), 1)
		f.take(t, deltafifo.Begin)
		f.write(t, deltaOf(deltafifo.Added, kit.Pod("b", "3", kit.Label("poison", "error"))))
		require.Equal(t, bad[1].Since, i.Quarantined()[0].Since)
		f.take(t, deltafifo.Commit)
		require.Equal(t, bad[1].Since, i.Quarantined()[0].Since, "also through a full state")
		f.write(t, deltaOf(deltafifo.Deleted, kit.Pod("b", "5")))
		require.Empty(t, i.Quarantined())
	})
}

// An object that fails while a full state arrives, and comes again in it, is not quarantined.
func TestQuarantinedForgetsWhatAStreamHasMended(t *testing.T) {
	f := newTestCore(t, Options[*corev1.Pod]{Transform: failByLabel}, 1)
	f.take(t, deltafifo.Begin)
	f.write(t, deltaOf(deltafifo.Added, kit.Pod("a", "1", kit.Label("poison", "error"))))
	require.Len(t, f.Inspector().Quarantined(), 1)
	f.write(t, deltaOf(deltafifo.Modified, kit.Pod("a", "2")))
	require.Empty(t, f.Inspector().Quarantined())
	f.take(t, deltafifo.Commit)
	require.Empty(t, f.Inspector().Quarantined())
	require.Zero(t, f.Status().Quarantined)
}

func TestQuarantinedTellsWhyAnObjectCouldNotBeDecoded(t *testing.T) {
	f := newTestCore(t, Options[*corev1.Pod]{}, 1)
	f.list("1")
	bad := deltaOf(deltafifo.Poisoned, kit.Pod("a", "2"))
	bad.Object = errPoison
	f.write(t, bad)
	found := f.Inspector().Quarantined()
	require.Len(t, found, 1)
	require.ErrorIs(t, found[0].Err, ErrDecode)
	require.ErrorIs(t, found[0].Err, errPoison)
}

func TestQuarantinedIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newTestCore(t, Options[*corev1.Pod]{Transform: failByLabel}, 1)
		f.start()
		f.list("1")
		for n := range 2 * engine.MaxQuarantined {
			f.write(t, deltaOf(deltafifo.Added, kit.Pod(fmt.Sprint("pod-", n), "1", kit.Label("poison", "error"))))
		}
		require.Len(t, f.Inspector().Quarantined(), engine.MaxQuarantined)
		require.Equal(t, 2*engine.MaxQuarantined, f.Status().Quarantined)

		// An object that fails again is shown once there is room.
		f.write(t, deltaOf(deltafifo.Modified, kit.Pod("pod-0", "2")))
		last := kit.Pod(fmt.Sprint("pod-", 2*engine.MaxQuarantined-1), "2", kit.Label("poison", "error"))
		f.write(t, deltaOf(deltafifo.Modified, last))
		shown := f.Inspector().Quarantined()
		require.Len(t, shown, engine.MaxQuarantined)
		require.True(t, slices.ContainsFunc(shown, func(o QuarantinedObject) bool { return o.Key.Name == last.Name }))

		for n := range 2 * engine.MaxQuarantined {
			f.write(t, deltaOf(deltafifo.Modified, kit.Pod(fmt.Sprint("pod-", n), "2")))
		}
		require.Empty(t, f.Inspector().Quarantined())
		require.Zero(t, f.Status().Quarantined)
	})
}

func TestIndexesAreCounted(t *testing.T) {
	byName := indexer.Index[*corev1.Pod]{Name: "name", Append: func(values []string, p *corev1.Pod) []string { return append(values, p.Name, "all") }}
	f := newTestCore(t, Options[*corev1.Pod]{Indexes: []indexer.Index[*corev1.Pod]{byName}, LabelIndexes: []string{"app"}}, 1)
	f.list("1", kit.Pod("a", "1", kit.Label("app", "x")), kit.Pod("b", "1", kit.Label("app", "x")), kit.Pod("c", "1"))
	i := f.Inspector()
	require.Equal(t, []indexer.IndexSize{
		{Name: "name", Values: 4, Entries: 6}, {Name: indexer.NamespaceIndex, Values: 1, Entries: 3},
	}, i.Indexes())
	require.Equal(t, []indexer.IndexSize{{Name: "app", Values: 1, Entries: 2}}, i.LabelIndexes())
}

// looksThrough requires that no method of an inspector blocks.
func looksThrough(t *testing.T, i *Inspector) {
	t.Helper()
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		i.Handlers()
		i.Recent()
		i.History()
		i.Indexes()
		i.LabelIndexes()
		i.Quarantined()
		i.Memory()
		i.Decoding()
	}()
	synctest.Wait() // returns when the calls have returned or are blocked
	require.True(t, kit.Closed(looked), "somebody waits for a function that is stuck")
}

// The methods of an inspector do not wait for a stuck function of the user, and the history goes
// on.
func TestAnInspectorAnswersWhileAFunctionIsStuck(t *testing.T) {
	for _, stuck := range []string{"index function", "handler", "transform"} {
		t.Run(stuck, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				gate := make(chan struct{})
				in := func(function string, p *corev1.Pod) {
					if function == stuck && p.Name == "stuck" {
						<-gate
					}
				}
				byNode := indexer.Index[*corev1.Pod]{Name: "node", Append: func(values []string, p *corev1.Pod) []string {
					in("index function", p)
					return append(values, p.Spec.NodeName)
				}}
				s := newScript("10", kit.Pod("a", "1"))
				i := New(sourceOf(s), Options[*corev1.Pod]{Indexes: []indexer.Index[*corev1.Pod]{byNode}, Transform: func(p *corev1.Pod) (*corev1.Pod, error) {
					in("transform", p)
					return p, nil
				}})
				_, err := i.Handle(HandlerFunc[*corev1.Pod](func(c Change[*corev1.Pod]) { in("handler", c.New) }), HandlerOptions{})
				require.NoError(t, err)
				ctx, cancel := context.WithCancel(t.Context())
				stopped := make(chan error)
				go func() { stopped <- i.Run(ctx) }()
				synctest.Wait()
				inspector := i.Inspector()
				s.Send(watch.Added, kit.Pod("stuck", "11"))
				synctest.Wait()
				looksThrough(t, inspector)
				pass(time.Minute)
				looksThrough(t, inspector)
				require.Len(t, inspector.History(), 12)
				if stuck == "handler" {
					require.NotZero(t, measuresOfOne(t, inspector).Calling)
				}
				close(gate)
				cancel()
				require.NoError(t, <-stopped)
			})
		})
	}
}

// An informer can be inspected at any time while it starts and stops.
func TestInformersStartAndStopWhileTheyAreInspected(t *testing.T) {
	var now atomic.Pointer[Informer[*corev1.Pod]]
	next := func() *Informer[*corev1.Pod] {
		i := New(sourceOf(newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))), Options[*corev1.Pod]{Observe: observed})
		now.Store(i)
		return i
	}
	next()
	var inspecting sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		inspecting.Go(func() {
			for !kit.Closed(stop) {
				x := now.Load().Inspector()
				x.Handlers()
				x.History()
				x.Recent()
				x.Quarantined()
				x.Indexes()
			}
		})
	}
	for range 30 {
		i := next()
		ctx, cancel := context.WithCancel(t.Context())
		ended, err := i.Start(ctx)
		require.NoError(t, err)
		r, err := i.Handle(&journal{}, HandlerOptions{})
		require.NoError(t, err)
		require.NoError(t, i.WaitSynced(ctx))
		r.Stop()
		cancel()
		require.NoError(t, ended())
	}
	close(stop)
	inspecting.Wait()
}

// An informer that was never inspected measures nothing.
func TestAnInformerMeasuresOnlyWhereSomebodyAsks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newTestCore(t, Options[*corev1.Pod]{}, 1)
		r := f.register(&journal{}, HandlerOptions{})
		f.start()
		f.list("1", kit.Pod("a", "1"))
		f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "2")))
		synctest.Wait()
		require.False(t, f.IsInspected())
		require.Zero(t, r.Calls())
		i := f.Inspector()
		f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "3")))
		pass(time.Minute)
		require.EqualValues(t, 1, measuresOfOne(t, i).Sampled)
		require.EqualValues(t, 2, f.Status().Totals.Updated)
	})
}

// An inspected handler that is removed while it is stuck holds only the objects of the event in its
// call.
func TestAnInspectedHandlerThatIsStuckAndRemovedHoldsOneEvent(t *testing.T) {
	f := newTestCore(t, Options[*corev1.Pod]{}, 1)
	gate, reached := make(chan struct{}), make(chan struct{}, 100)
	f.Inspector()
	r := f.register(HandlerFunc[*corev1.Pod](func(Change[*corev1.Pod]) {
		reached <- struct{}{}
		<-gate
	}), HandlerOptions{})
	f.start()
	t.Cleanup(func() { close(gate) })
	f.list("1")
	old := f.churn(100)
	<-reached
	r.Stop()
	f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "300")))
	require.LessOrEqual(t, old.left(), 2, "the one before the call, and the one after")
}
