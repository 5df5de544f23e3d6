package informer_test

import (
	"context"
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

// runsController runs a controller until stop is called or the test ends.
func runsController(t *testing.T, c cache.Controller) (stop func()) {
	stopping, ended := make(chan struct{}), make(chan struct{})
	go func() { defer close(ended); c.Run(stopping) }()
	once := false
	stop = func() {
		if !once {
			once = true
			close(stopping)
		}
		<-ended
	}
	t.Cleanup(stop)
	synctest.Wait()
	return stop
}

// B1, B4, B7 to B11: the handler of an unshared informer gets adds, updates, deletes and tombstones
// in the order in which the store changes.
func TestContract_B1_B11_AnUnsharedInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
		r := &kit.Recorder{}
		store, c := newOneHandler(kit.ListerWatcher{Source: s}, &corev1.Pod{}, 0, r.Handler())
		require.False(t, c.HasSynced())
		require.Empty(t, c.LastSyncResourceVersion())
		stop := runsController(t, c)
		require.ElementsMatch(t, []string{"initial a@1", "initial b@2"}, r.Take())
		require.True(t, c.HasSynced() && cache.IsDone(c.HasSyncedChecker()))
		require.NotEmpty(t, c.HasSyncedChecker().Name())
		s.Send(watch.Modified, kit.Pod("a", "11"))
		s.Send(watch.Added, kit.Pod("b", "12"))
		s.Send(watch.Modified, kit.Pod("c", "13"))
		s.Send(watch.Deleted, kit.Pod("a", "14"))
		s.Send(watch.Deleted, kit.Pod("nobody", "15"))
		require.Equal(t, []string{"update a@1 a@11", "update b@2 b@12", "add c@13", "delete a@14", "delete nobody@15"}, r.Take())
		require.ElementsMatch(t, []string{"default/b", "default/c"}, store.ListKeys())
		require.Equal(t, "15", c.LastSyncResourceVersion())
		require.Equal(t, "15", store.LastStoreSyncResourceVersion())
		s.Set("20", kit.Pod("c", "13"), kit.Pod("d", "16"))
		s.Expire()
		require.Equal(t, []string{"delete tombstone default/b b@12", "add d@16"}, r.Take())
		stop()
		require.ElementsMatch(t, []string{"default/c", "default/d"}, store.ListKeys())
	})
}

// B16, B80: HasSynced of a controller is true once its handler has handled the initial adds.
func TestContract_B16_B80_TheControllersHandlerIsSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		blocked := make(chan struct{})
		_, c := newOneHandler(kit.ListerWatcher{Source: rig.NewScript("10", kit.Pod("a", "1"))}, &corev1.Pod{}, 0,
			cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-blocked }})
		runsController(t, c)
		require.False(t, c.HasSynced())
		close(blocked)
		synctest.Wait()
		require.True(t, c.HasSynced())
	})
}

// B76: an unshared informer uses its resync period unchanged. A resync delivers each stored object
// as an update to itself.
func TestContract_B76_ResyncsOfAnUnsharedInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &kit.Recorder{}
		x, c := informer.ForOneHandler(cache.InformerOptions{
			ListerWatcher: kit.ListerWatcher{Source: rig.NewScript("10", kit.Pod("a", "1"))}, ObjectType: &corev1.Pod{},
			ResyncPeriod: 100 * time.Millisecond, Handler: r.Handler(), Indexers: byNamespace,
		})
		runsController(t, c)
		require.Equal(t, []string{"initial a@1"}, r.Take())
		time.Sleep(250 * time.Millisecond)
		require.Equal(t, []string{"update a@1 a@1", "update a@1 a@1"}, r.Take())
		found, err := x.ByIndex(cache.NamespaceIndex, "default")
		require.NoError(t, err)
		require.Len(t, found, 1)
	})
}

// B84, B89, D25: the transform of an unshared informer may return anything, even a value without
// metadata.
func TestContract_B89_TransformsOfAnUnsharedInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("10", kit.Pod("a", "1"))
		r := &kit.Recorder{}
		store, c := informer.ForOneHandler(cache.InformerOptions{
			ListerWatcher: kit.ListerWatcher{Source: s}, ObjectType: &corev1.Pod{}, Handler: r.Handler(),
			Transform: func(obj any) (any, error) { return "just " + obj.(*corev1.Pod).Name, nil },
		})
		runsController(t, c)
		s.Send(watch.Added, kit.Pod("b", "11"))
		require.Equal(t, []string{"initial just a", "add just b"}, r.Take())
		got, ok, err := store.GetByKey("default/b")
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, "just b", got)
		require.Equal(t, "11", store.LastStoreSyncResourceVersion(), "D7")
	})
}

// A constructor that returns no error keeps the error of a misuse: methods that return an error
// return it, and Run logs it.
func TestMisuseOfTheConstructors(t *testing.T) {
	log := kit.CaptureLog(t)
	for name, c := range map[string]struct {
		made cache.SharedIndexInformer
		want error
	}{
		"no source": {newShared(nil, &corev1.Pod{}, 0, nil), informer.ErrNoSource},
		"a period":  {newShared(kit.ListerWatcher{Source: rig.Silent{}}, &corev1.Pod{}, -1, nil), informer.ErrOutOfRange},
	} {
		log.Reset()
		_, err := c.made.AddEventHandler((&kit.Recorder{}).Handler())
		require.ErrorIs(t, err, c.want, name)
		require.ErrorIs(t, c.made.SetTransform(nil), c.want, name)
		require.ErrorIs(t, c.made.AddIndexers(byNamespace), c.want, name)
		i := c.made.(informer.Shared)
		require.ErrorIs(t, i.WaitSynced(t.Context()), c.want, name)
		require.ErrorIs(t, i.Status().LastError, c.want, name)
		c.made.RunWithContext(t.Context())
		require.Equal(t, 1, log.Count(c.want.Error()), name)
		require.NoError(t, c.made.GetStore().Add(kit.Pod("a", "1")), "the store is there")
	}
	for name, c := range map[string]struct {
		o    cache.InformerOptions
		want error
	}{
		"no source":  {cache.InformerOptions{Handler: (&kit.Recorder{}).Handler()}, informer.ErrNoSource},
		"no handler": {cache.InformerOptions{ListerWatcher: kit.ListerWatcher{Source: rig.Silent{}}}, informer.ErrNoHandler},
		"a period":   {cache.InformerOptions{ListerWatcher: kit.ListerWatcher{Source: rig.Silent{}}, Handler: (&kit.Recorder{}).Handler(), ResyncPeriod: -1}, informer.ErrOutOfRange},
	} {
		log.Reset()
		store, controller := informer.ForOneHandler(c.o)
		controller.RunWithContext(t.Context())
		require.Equal(t, 1, log.Count(c.want.Error()), name)
		require.False(t, controller.HasSynced() || kit.Closed(controller.HasSyncedChecker().Done()), name)
		require.NoError(t, store.Add(kit.Pod("a", "1")))
	}
}

// The error about an object of the wrong type names both types.
func TestWrongTypesAreNamed(t *testing.T) {
	store := informer.New(rig.SourceOf(rig.Silent{}), informer.Options[*corev1.Pod]{}).Shared().GetStore()
	err := store.Add(&corev1.Node{})
	require.ErrorIs(t, err, informer.ErrType)
	require.ErrorContains(t, err, "*v1.Pod")
	require.ErrorContains(t, err, "*v1.Node")
	require.ErrorIs(t, store.Replace([]any{&corev1.Node{}}, "1"), informer.ErrType)
	require.ErrorIs(t, store.(cache.TransactionStore).Transaction(cache.Transaction{Type: cache.TransactionTypeAdd, Object: &corev1.Node{}}).Errors[0], informer.ErrType)

	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("10")
		i := newShared(kit.ListerWatcher{Source: s}, &corev1.Pod{}, 0, nil)
		errs := collectErrors(t, i)
		r, _ := addRecorder(t, i)
		startClientgo(t, i)
		s.Send(watch.Added, &corev1.Node{})
		require.Empty(t, r.Take(), "B61")
		require.Len(t, *errs, 1)
		require.ErrorContains(t, (*errs)[0], "*v1.Pod")
		require.ErrorContains(t, (*errs)[0], "*v1.Node")
	})
}

// SetWatchErrorHandler(nil) restores the default handler, as in client-go.
func TestANilErrorHandler(t *testing.T) {
	log := kit.CaptureLog(t)
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("10")
		s.Fail(rig.ErrPoison)
		i := newShared(kit.ListerWatcher{Source: s}, &corev1.Pod{}, 0, nil)
		collectErrors(t, i)
		require.NoError(t, i.SetWatchErrorHandler(nil))
		startClientgo(t, i)
		require.Positive(t, log.Count(rig.ErrPoison.Error()))
	})
}

// B98: a panic of the handler still ends the first call of Run after a second call was refused.
func TestContract_B98_APanicEndsTheRunAfterASecondCall(t *testing.T) {
	kit.CaptureLog(t)
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		_, c := newOneHandler(kit.ListerWatcher{Source: rig.NewScript("10", kit.Pod("a", "1"))}, &corev1.Pod{}, 0, cache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) { <-gate; panic("of the handler") },
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		go func() {
			time.Sleep(time.Second)
			c.RunWithContext(ctx)
			close(gate)
		}()
		began := time.Now()
		require.PanicsWithValue(t, "of the handler", func() { c.RunWithContext(ctx) })
		require.Less(t, time.Since(began), 10*time.Second)
	})
}
