package engine_test

import (
	"context"
	"fmt"
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
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/internal/measure"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

func TestTotalsCountTheChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
		f.register(&rig.Journal{}, informer.HandlerOptions{})
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
		require.EqualValues(t, 3+2+1+1+2+2, f.Status().Handlers[0].Delivered, "including the delete of an unknown object")
		f.register(&rig.Journal{}, informer.HandlerOptions{})
		synctest.Wait()
		require.EqualValues(t, 2, f.Status().Handlers[1].Delivered, "the initial state")
		require.Equal(t, totals, f.Status().Totals, "which counts once")
	})
}

func TestRecentAreTheLastChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
		f.start()
		i, begun := f.Inspector(), time.Now()
		f.list("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
		require.Empty(t, i.Recent(), "each handler gets the first full state separately")
		pass(time.Minute)
		f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "11")), deltaOf(deltafifo.Added, kit.Pod("b", "12", kit.UID("another"))), deltaOf(deltafifo.Deleted, kit.Pod("a", "13")))
		at := begun.Add(time.Minute)
		require.Equal(t, []informer.RecentEvent{
			{At: at, Kind: informer.Updated, Key: rig.Named("a"), Version: "11"}, {At: at, Kind: informer.Deleted, Key: rig.Named("b"), Version: "2"}, {At: at, Kind: informer.Added, Key: rig.Named("b"), Version: "12"}, {At: at, Kind: informer.Deleted, Key: rig.Named("a"), Version: "13"},
		}, i.Recent())

		f.list("20", kit.Pod("c", "19"))
		recent := i.Recent()
		require.Equal(t, []informer.RecentEvent{{At: at, Kind: informer.Deleted, Key: rig.Named("b"), Version: "12"}, {At: at, Kind: informer.Added, Key: rig.Named("c"), Version: "19"}}, recent[len(recent)-2:])
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
	synctest.Test(t, func(t *testing.T) {
		f, h := newTestCore(t, informer.Options[*corev1.Pod]{}, 1), rig.NewGated()
		f.register(h, informer.HandlerOptions{})
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
		h.Open()
		pass(time.Hour)
		history = i.History()
		require.Len(t, history, measure.MostMoments)
		require.InDelta(t, measure.KeepFor, time.Since(history[0].At), float64(5*time.Second))
		require.Zero(t, history[measure.MostMoments-1].Lag)
	})
}

// The history of an informer that holds objects packed counts how often they were decoded.
func TestHistoryCountsDecodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := informer.NewBudget(0)
		f := newTestCore(t, informer.Options[*corev1.Pod]{Storage: informer.Storage{Decoded: budget}}, 1)
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

// After a run has ended, no call is measured, no event waits for the handler, and the history grows
// old.
func TestAnInformerThatHasStoppedIsInNoCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := rig.NewGated()
		i := informer.New(rig.SourceOf(rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "1"))), informer.Options[*corev1.Pod]{Observe: rig.Observed})
		_, err := i.Handle(h, informer.HandlerOptions{})
		require.NoError(t, err)
		late := informer.New(rig.SourceOf(rig.NewScript("10")), informer.Options[*corev1.Pod]{Observe: rig.Observed})
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
		h.Pass()
		require.NoError(t, ended())
		require.NoError(t, endedToo())
		inspector := i.Inspector()
		pass(time.Hour)
		m := measuresOfOne(t, inspector)
		require.Zero(t, m.Calling)
		require.Empty(t, m.Slowest)
		require.Zero(t, m.Lag, "the other event is dropped")
		require.Empty(t, late.Inspector().History(), "of the last 15 minutes")
	})
}

func TestIndexesAreCounted(t *testing.T) {
	byName := indexer.Index[*corev1.Pod]{Name: "name", Append: func(values []string, p *corev1.Pod) []string { return append(values, p.Name, "all") }}
	f := newTestCore(t, informer.Options[*corev1.Pod]{Indexes: []indexer.Index[*corev1.Pod]{byName}, LabelIndexes: []string{"app"}}, 1)
	f.list("1", kit.Pod("a", "1", kit.Label("app", "x")), kit.Pod("b", "1", kit.Label("app", "x")), kit.Pod("c", "1"))
	i := f.Inspector()
	require.Equal(t, []indexer.IndexSize{
		{Name: "name", Values: 4, Entries: 6}, {Name: indexer.NamespaceIndex, Values: 1, Entries: 3},
	}, i.Indexes())
	require.Equal(t, []indexer.IndexSize{{Name: "app", Values: 1, Entries: 2}}, i.LabelIndexes())
}

// looksThrough requires that no method of an inspector blocks.
func looksThrough(t *testing.T, i *informer.Inspector) {
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
			synctest.Test(t, func(t *testing.T) {
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
				s := rig.NewScript("10", kit.Pod("a", "1"))
				i := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Indexes: []indexer.Index[*corev1.Pod]{byNode}, Transform: func(p *corev1.Pod) (*corev1.Pod, error) {
					in("transform", p)
					return p, nil
				}})
				_, err := i.Handle(informer.HandlerFunc[*corev1.Pod](func(c informer.Change[*corev1.Pod]) { in("handler", c.New) }), informer.HandlerOptions{})
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
	var now atomic.Pointer[informer.Informer[*corev1.Pod]]
	next := func() *informer.Informer[*corev1.Pod] {
		i := informer.New(rig.SourceOf(rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))), informer.Options[*corev1.Pod]{Observe: rig.Observed})
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
		r, err := i.Handle(&rig.Journal{}, informer.HandlerOptions{})
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
	synctest.Test(t, func(t *testing.T) {
		f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
		f.register(&rig.Journal{}, informer.HandlerOptions{})
		f.start()
		f.list("1", kit.Pod("a", "1"))
		f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "2")))
		synctest.Wait()
		require.False(t, f.IsInspected())
		require.Zero(t, f.Registrations()[0].Calls())
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
	f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
	gate, reached := make(chan struct{}), make(chan struct{}, 100)
	f.Inspector()
	r := f.register(informer.HandlerFunc[*corev1.Pod](func(informer.Change[*corev1.Pod]) {
		reached <- struct{}{}
		<-gate
	}), informer.HandlerOptions{})
	f.start()
	t.Cleanup(func() { close(gate) })
	f.list("1")
	old := f.churn(100)
	<-reached
	r.Stop()
	f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "300")))
	require.LessOrEqual(t, old.Left(), 2, "the one before the call, and the one after")
}
