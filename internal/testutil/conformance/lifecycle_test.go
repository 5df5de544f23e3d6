package conformance_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// B94, T11: a second Run returns without effect.
func TestContract_B94_T11_ASecondRun(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		rec, _ := w.addRecorder()
		w.start()
		w.run(t.Context())
		require.False(t, w.stopped())
		rec.Take()
		w.Send(watch.Modified, kit.Pod("a", "11"))
		require.Equal(t, []string{"update a@1 a@11"}, rec.Take())
		w.stop()
		w.run(t.Context())
		require.True(t, w.stopped())
	})
}

// D18: if Run is called twice at the same time, only one call runs the informer.
func TestContract_D18_TwoRunsAtOnce(t *testing.T) {
	ours(t, "both run if they are close enough in time", func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{}, 2)
		for range 2 {
			go func() { w.run(ctx); ended <- struct{}{} }()
		}
		synctest.Wait()
		require.Len(t, ended, 1)
		require.True(t, w.synced())
		lists, _ := w.Requests()
		require.Equal(t, 1, lists)
		cancel()
		<-ended
		<-ended
	})
}

// B95: Run returns when the handlers have returned. Their pending events are dropped.
func TestContract_B95_TheEnd(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		gate, rec := make(chan struct{}), &kit.Recorder{}
		h := rec.Handler()
		w.addHandler(funcs{
			AddFunc:    func(obj any, initial bool) { <-gate; h.AddFunc(obj, initial) },
			UpdateFunc: h.UpdateFunc,
		})
		stop := w.start().stop
		for range 10 {
			w.Send(watch.Modified, kit.Pod("a", "11"))
		}
		synctest.Wait()
		ended := make(chan struct{})
		go func() { defer close(ended); stop() }()
		synctest.Wait()
		require.True(t, w.stopped(), "before the handler's end")
		select {
		case <-ended:
			require.FailNow(t, "Run did not wait for the handler")
		default:
		}
		close(gate)
		<-ended
		require.LessOrEqual(t, len(rec.Take()), 2, "client-go may deliver events that it has already taken")
	})
}

// B96: the store keeps its content after the end.
func TestContract_B96_AfterTheEnd(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"))).start()
		w.stop()
		require.True(t, w.stopped() && w.synced())
		require.Equal(t, []string{"default/a"}, w.keys())
		require.Equal(t, "a@1", kit.Text(w.get("default/a")))
		lists, _ := w.Requests()
		w.run(t.Context())
		again, _ := w.Requests()
		require.Equal(t, lists, again)
	})
}

// B100: an informer that never ran leaves no goroutines, with or without handlers. goleak and the bubble
// check this.
func TestContract_B100_AnInformerThatNeverRan(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10"), settings{resync: time.Second})
		_, reg := w.addRecorder()
		w.addRecorder()
		require.False(t, w.synced() || w.stopped() || reg.synced())
		require.NoError(t, reg.remove())
	})
}

// B102: synced stays true regardless of the server.
func TestContract_B102_SyncedIsPermanent(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		w.collectErrors()
		_, reg := w.addRecorder()
		w.start()
		require.True(t, w.synced() && reg.synced())
		w.Fail(errors.New("on purpose"))
		w.Expire()
		time.Sleep(time.Hour)
		require.True(t, w.synced() && reg.synced())
		w.stop()
		require.True(t, w.synced() && reg.synced())
	})
}

// B103, T3: DoneCheckers have names, and WaitFor works with them.
func TestContract_B103_T3_Waiting(t *testing.T) {
	clientgoAPI(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		_, reg := w.addRecorder()
		i := w.shared()
		checkers := []cache.DoneChecker{i.HasSyncedChecker(), i.GetController().HasSyncedChecker(), reg.(sharedRegistration).handle.HasSyncedChecker()}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.False(t, cache.WaitFor(ctx, "", checkers...))
		require.False(t, cache.WaitForCacheSync(ctx.Done(), i.HasSynced))
		for _, c := range checkers {
			require.NotEmpty(t, c.Name())
		}
		w.start()
		require.True(t, cache.WaitFor(ctx, "", checkers...), "finished checkers win over an ended context")
		require.True(t, cache.WaitForCacheSync(t.Context().Done(), i.HasSynced, reg.synced))
		var results []string
		for result := range map[string]bool{"done": cache.WaitFor(t.Context(), "", checkers...)} {
			results = append(results, result)
		}
		require.Equal(t, []string{"done"}, results)
	})
}

// T13: GetController works before, during and after the run.
func TestContract_T13_TheController(t *testing.T) {
	clientgoAPI(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		c := w.shared().GetController()
		require.NotNil(t, c)
		require.False(t, c.HasSynced())
		require.Empty(t, c.LastSyncResourceVersion())
		c.Run(nil)
		require.False(t, c.HasSynced(), "the controller is inert")
		w.start()
		require.True(t, c.HasSynced())
		if r.name == sharedRig.name {
			require.Equal(t, "10", c.LastSyncResourceVersion()) // client-go's controller has no version yet
		}
	})
}

// T4: error handlers get a reflector that client-go's default handler can use.
func TestContract_T4_TheErrorHandlersReflector(t *testing.T) {
	clientgoAPI(t, func(t T, r rig) {
		s := kit.NewScript("10")
		s.Fail(errors.New("on purpose"))
		w := r.world(t, s)
		calls := 0
		require.NoError(t, w.shared().SetWatchErrorHandlerWithContext(func(ctx context.Context, r *cache.Reflector, err error) {
			calls++
			require.NotNil(t, r)
			require.NotEmpty(t, r.TypeDescription())
			cache.DefaultWatchErrorHandler(ctx, r, err)
		}))
		w.start()
		require.Equal(t, 1, calls)
	})
	clientgoAPI(t, func(t T, r rig) { // with the older interface
		s := kit.NewScript("10")
		s.Fail(errors.New("on purpose"))
		w := r.world(t, s)
		calls := 0
		require.NoError(t, w.shared().SetWatchErrorHandler(func(r *cache.Reflector, err error) {
			calls++
			require.NotNil(t, r)
			require.ErrorContains(t, err, "on purpose")
		}))
		w.start()
		require.Equal(t, 1, calls)
	})
}

// T1: the interfaces are client-go's.
func TestContract_T1_Interfaces(t *testing.T) {
	clientgoAPI(t, func(t T, r rig) {
		i := r.world(t, kit.NewScript("10")).shared()
		require.Implements(t, (*cache.SharedInformer)(nil), i)
		require.Implements(t, (*cache.SharedIndexInformer)(nil), i)
		require.Implements(t, (*cache.Indexer)(nil), i.GetIndexer())
		require.Implements(t, (*cache.TransactionStore)(nil), i.GetIndexer())
		require.Implements(t, (*cache.Store)(nil), i.GetStore())
		require.Implements(t, (*cache.Controller)(nil), i.GetController())
	})
}

// T2: cache.ShutDownEventHandler works with our registrations.
func TestContract_T2_ShutdownChan(t *testing.T) {
	clientgoAPI(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10"))
		_, reg := w.addRecorder()
		require.Implements(t, (*interface{ ShutdownChan() <-chan struct{} })(nil), reg.(sharedRegistration).handle)
	})
}

// D19, D10: Status can be read at any time.
func TestContract_D19_D10_Status(t *testing.T) {
	typedOnly(t, "client-go has no status", func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		i := w.typed().informer
		require.Zero(t, i.Status().Confirmed)
		began := time.Now()
		w.start()
		time.Sleep(time.Minute)
		st := i.Status()
		require.True(t, st.Running && st.Synced && st.Watching)
		require.Equal(t, began, st.WatchingSince)
		require.Equal(t, time.Minute, st.Staleness)
		w.Send(watch.Bookmark, kit.Bookmark("20", ""))
		synctest.Wait()
		require.Equal(t, time.Now(), i.Status().Confirmed)
		require.Zero(t, i.Status().Staleness)
		require.NoError(t, i.WaitDelivered(t.Context(), "20"))
		w.Fail(errPoison)
		w.Expire()
		time.Sleep(time.Minute)
		st = i.Status()
		require.False(t, st.Watching)
		require.ErrorIs(t, st.LastError, errPoison)
		require.Positive(t, st.Errors)
		require.Zero(t, st.Relists)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := i.WaitDelivered(ctx, "30")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, errPoison)
		require.ErrorIs(t, i.WaitDelivered(t.Context(), "not a number"), informer.ErrVersion)
		w.Fail(nil)
		time.Sleep(2 * time.Minute)
		require.Equal(t, 1, i.Status().Relists)
		w.stop()
		require.True(t, i.Status().Stopped)
	})
	typedOnly(t, "client-go cannot tell", func(t T, r rig) {
		s := kit.NewScript("10")
		s.Fail(errPoison)
		w := r.world(t, s).start()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := w.typed().informer.WaitSynced(ctx)
		require.ErrorIs(t, err, informer.ErrNotSynced)
		require.ErrorIs(t, err, errPoison)
	})
}

// D1: pending events of a slow handler are merged with Latest.
func TestContract_D1_LatestMerges(t *testing.T) {
	typedOnly(t, "client-go has no such delivery", func(t T, _ rig) {
		s := kit.NewScript("10", kit.Pod("a", "1"))
		i := informer.New(reflector.FromListerWatcher(s), informer.Options[*corev1.Pod]{Observe: (&observer{}).observe})
		gate, rec := make(chan struct{}), &kit.Recorder{}
		h := rec.Handler()
		reg, err := i.Handle(typedHandler(funcs{
			AddFunc: func(obj any, initial bool) { <-gate; h.AddFunc(obj, initial) }, UpdateFunc: h.UpdateFunc, DeleteFunc: h.DeleteFunc,
		}), informer.HandlerOptions{Delivery: informer.Latest})
		require.NoError(t, err)
		background(t, func(ctx context.Context) { _ = i.Run(ctx) })
		for range 2000 {
			s.Send(watch.Modified, kit.Pod("a", "11"))
		}
		s.Send(watch.Modified, kit.Pod("a", "12"))
		s.Send(watch.Added, kit.Pod("b", "13"))
		s.Send(watch.Deleted, kit.Pod("b", "14"))
		synctest.Wait()
		require.Less(t, reg.Backlog(), 1500, "merged events, and events that are not merged yet")
		close(gate)
		require.Equal(t, []string{"initial a@1", "update a@1 a@12"}, rec.Take())
	})
}
