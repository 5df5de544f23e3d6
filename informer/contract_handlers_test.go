package informer_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

// T2, B81, B82: handlers can be removed and shut down before, during and after a run.
func TestContract_T2_HandlersLeave(t *testing.T) {
	eachClientgoInformer(t, func(t *testing.T, create constructor) {
		s := rig.NewScript("10", kit.Pod("a", "1"))
		i, other := create(s, 0, nil), create(rig.NewScript("1"), 0, nil)
		never, neverReg := addRecorder(t, i)
		require.NoError(t, cache.ShutDownEventHandler(i, neverReg), "at once, if never started")
		_, foreign := addRecorder(t, other)
		r, reg := addRecorder(t, i)
		stop := startClientgo(t, i)
		require.Len(t, r.Take(), 1)
		require.Empty(t, never.Take())
		require.NoError(t, i.RemoveEventHandler(foreign), "B81: unknown is fine")
		require.Error(t, i.RemoveEventHandler(nil), "B81: another type is not")
		require.NoError(t, cache.ShutDownEventHandler(i, reg))
		require.NoError(t, i.RemoveEventHandler(reg), "idempotent")
		s.Send(watch.Modified, kit.Pod("a", "11"))
		require.Empty(t, r.Take())
		stop()
		require.NoError(t, i.RemoveEventHandler(reg), "after stop")
	})
}

func TestContract_B82_ShutDownWaitsForTheCallback(t *testing.T) {
	eachClientgoInformer(t, func(t *testing.T, create constructor) {
		i := create(rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2")), 0, nil)
		gate := make(chan struct{})
		reg, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-gate }})
		require.NoError(t, err)
		startClientgo(t, i)
		down := make(chan error, 1)
		go func() { down <- cache.ShutDownEventHandler(i, reg) }()
		synctest.Wait()
		require.Empty(t, down)
		require.False(t, reg.HasSynced())
		close(gate)
		require.NoError(t, <-down)
		require.False(t, reg.HasSynced(), "it was removed before it got all objects")
	})
}

// T3: checkers have names. T13: GetController returns a controller that does nothing and reports
// the informer's state.
func TestContract_T3_T13_CheckersAndTheController(t *testing.T) {
	eachClientgoInformer(t, func(t *testing.T, create constructor) {
		i := create(rig.NewScript("10", kit.Pod("a", "1")), 0, nil)
		_, reg := addRecorder(t, i)
		c := i.GetController()
		require.NotNil(t, c)
		require.False(t, c.HasSynced() || i.HasSynced() || i.IsStopped())
		require.Empty(t, c.LastSyncResourceVersion())
		for _, checker := range []cache.DoneChecker{i.HasSyncedChecker(), c.HasSyncedChecker(), reg.HasSyncedChecker()} {
			require.NotEmpty(t, checker.Name())
			require.False(t, kit.Closed(checker.Done()))
		}
		c.Run(nil)
		c.RunWithContext(t.Context())
		require.False(t, c.HasSynced(), "it is inert")
		stop := startClientgo(t, i)
		require.True(t, c.HasSynced() && i.HasSynced() && reg.HasSynced())
		require.Equal(t, "10", c.LastSyncResourceVersion())
		for _, checker := range []cache.DoneChecker{i.HasSyncedChecker(), c.HasSyncedChecker(), reg.HasSyncedChecker()} {
			require.True(t, kit.Closed(checker.Done()))
		}
		stop()
		require.True(t, i.IsStopped() && i.HasSynced())
	})
}

// A second Run returns, and after the stop no handler or index can be added (T11, B95). The store
// stays readable (B96).
func TestContract_T11_AfterStop(t *testing.T) {
	eachClientgoInformer(t, func(t *testing.T, create constructor) {
		i := create(rig.NewScript("10", kit.Pod("a", "1")), 0, nil)
		addRecorder(t, i)
		stop := startClientgo(t, i)
		i.RunWithContext(t.Context()) // logs and returns
		require.False(t, i.IsStopped())
		stop()
		require.True(t, i.IsStopped())
		_, err := i.AddEventHandler((&kit.Recorder{}).Handler())
		require.ErrorIs(t, err, informer.ErrStopped)
		require.ErrorContains(t, err, "was not added")
		require.ErrorIs(t, i.AddIndexers(byNamespace), informer.ErrStopped)
		require.Equal(t, []string{"default/a"}, i.GetStore().ListKeys(), "B96")
		i.RunWithContext(t.Context())
		require.True(t, i.IsStopped())
	})
}

// B95: the events that wait for a handler when the informer stops are dropped, and Run returns when
// the handler has returned.
func TestContract_B95_StopDropsWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("10", kit.Pod("a", "1"))
		i, h := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Observe: rig.Observed}), rig.NewGated()
		reg, err := i.Handle(h, informer.HandlerOptions{})
		require.NoError(t, err)
		stop := rig.Start(t, i)
		s.Send(watch.Modified, kit.Pod("a", "11"))
		synctest.Wait()
		stopping := make(chan struct{})
		go func() { defer close(stopping); stop() }()
		synctest.Wait()
		require.False(t, kit.Closed(stopping), "Run waits for the handler")
		require.True(t, kit.Closed(i.Done()))
		require.False(t, kit.Closed(reg.Done()))
		h.Open()
		<-stopping
		require.True(t, kit.Closed(reg.Done()))
		require.Equal(t, []string{"initial a@1"}, h.Take())
	})
}

// D15: a handler that is added late delays no other handler, and its initial adds hold no lock.
func TestContract_D15_ALateHandlerDelaysNobody(t *testing.T) {
	eachClientgoInformer(t, func(t *testing.T, create constructor) {
		s := rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
		i := create(s, 0, nil)
		early, _ := addRecorder(t, i)
		startClientgo(t, i)
		early.Take()
		gate := make(chan struct{})
		late, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-gate }})
		require.NoError(t, err)
		synctest.Wait()
		s.Send(watch.Modified, kit.Pod("a", "11"))
		require.Equal(t, []string{"update a@1 a@11"}, early.Take())
		require.False(t, late.HasSynced())
		require.False(t, i.IsStopped())
		require.Equal(t, "11", i.LastSyncResourceVersion())
		require.NoError(t, i.AddIndexers(cache.Indexers{"labels": byLabels}))
		third, reg := addRecorder(t, i)
		require.Len(t, third.Take(), 2)
		require.NoError(t, i.RemoveEventHandler(reg))
		close(gate)
		synctest.Wait()
		require.True(t, late.HasSynced())
	})
}

// D16: a handler that panics gets the next event without a pause, and its registration syncs.
func TestContract_D16_AHandlerThatPanicsGoesOn(t *testing.T) {
	kit.SurvivePanics(t)
	eachClientgoInformer(t, func(t *testing.T, create constructor) {
		s := rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"), kit.Pod("c", "3"))
		i := create(s, 0, nil)
		r := &kit.Recorder{}
		reg, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(obj any) { r.Add("add "+kit.Text(obj), obj); panic("add") },
			UpdateFunc: func(_, obj any) { r.Add("update "+kit.Text(obj), obj); panic("update") },
		})
		require.NoError(t, err)
		began := time.Now()
		startClientgo(t, i)
		require.Len(t, r.Take(), 3)
		require.True(t, reg.HasSynced())
		for range 40 { // more than a burst
			s.Send(watch.Modified, kit.Pod("a", "11"))
		}
		require.Len(t, r.Take(), 40)
		require.Equal(t, began, time.Now())
	})
}

func TestContract_D16_PanicsAreObserved(t *testing.T) {
	kit.SurvivePanics(t)
	for _, delivery := range rig.Deliveries {
		synctest.Test(t, func(t *testing.T) {
			s, seen := rig.NewScript("10", kit.Pod("a", "1")), rig.NewEvents()
			i := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Observe: seen.Observe})
			reg, err := i.Handle(informer.HandlerFunc[*corev1.Pod](func(informer.Change[*corev1.Pod]) { panic("on purpose") }),
				informer.HandlerOptions{Name: "clumsy", Delivery: delivery, Resync: time.Minute})
			require.NoError(t, err)
			rig.Start(t, i)
			s.Send(watch.Modified, kit.Pod("a", "11"))
			time.Sleep(time.Minute)
			synctest.Wait()
			want := informer.HandlerPanicked{Handler: "clumsy", Value: "on purpose"}
			require.Equal(t, []informer.HandlerPanicked{want, want, want}, rig.Of[informer.HandlerPanicked](seen), "initial, event, resync")
			require.True(t, kit.Closed(reg.Synced()))
			require.Zero(t, reg.Backlog())
		})
	}
}

// D17: a handler may remove itself during a call, even while the informer stops.
func TestContract_D17_AHandlerTakesItselfOut(t *testing.T) {
	eachClientgoInformer(t, func(t *testing.T, create constructor) {
		for _, stopping := range []bool{false, true} {
			s := rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
			i := create(s, 0, nil)
			gate, calls := make(chan struct{}), 0
			var reg cache.ResourceEventHandlerRegistration
			reg, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
				calls++
				<-gate
				require.NoError(t, i.RemoveEventHandler(reg))
			}})
			require.NoError(t, err)
			stop := startClientgo(t, i)
			down := make(chan struct{})
			if stopping {
				go func() { defer close(down); stop() }()
				synctest.Wait()
			}
			close(gate)
			if !stopping {
				synctest.Wait()
				stop()
			} else {
				<-down
			}
			require.Equal(t, 1, calls)
		}
	})
}

// B100: an informer that never runs leaves nothing behind. goleak finds goroutines.
func TestContract_B100_HandlersOfAnInformerThatNeverRuns(t *testing.T) {
	i := informer.New(rig.SourceOf(rig.NewScript("1")), informer.Options[*corev1.Pod]{})
	reg, err := i.Handle(&rig.Journal{}, informer.HandlerOptions{Resync: time.Second})
	require.NoError(t, err)
	require.Equal(t, "github.com/tidemark-k8s/tidemark/internal/testutil/rig.Journal", reg.Name())
	require.Zero(t, reg.Backlog())
	require.False(t, kit.Closed(reg.Done()))
	reg.Stop()
	reg.Stop()
	require.True(t, kit.Closed(reg.Done()))
	require.False(t, kit.Closed(reg.Synced()))
	require.Empty(t, i.Status().Handlers)
}
