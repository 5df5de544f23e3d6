package factory

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// One informer can be stopped while the others go on; only a restart lets it run again.
func TestStopInformer(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		require.NoError(t, server.Create(ctx, newWidget("a", "one", "red")))
		f := newWidgetFactory(t, server)
		mine, err := For[*widget](f)
		require.NoError(t, err)
		var d, theirs recorder[*widget]
		_, err = mine.Handle(&d, informer.HandlerOptions{})
		require.NoError(t, err)
		_, err = mine.Shared().AddEventHandler(theirs.funcs())
		require.NoError(t, err)
		begin(t, ctx, f)
		red := acquire(t, f, Scope{Labels: "color=red"})
		synctest.Wait()
		require.Equal(t, 2, server.Watches())
		require.Equal(t, []string{"added one"}, d.read())

		require.NoError(t, StopInformer[*widget](f, Scope{}))
		require.NoError(t, StopInformer[*widget](f, Scope{}))
		synctest.Wait()
		require.True(t, mine.Status().Stopped)
		require.Equal(t, []string{"a/one"}, names(mine), "it stays readable")
		require.Equal(t, 1, server.Watches(), "the other one goes on")
		require.Empty(t, f.WaitForCacheSync(ctx.Done()))
		acquire(t, f, Scope{}).Release()
		begin(t, ctx, f)
		require.Equal(t, 1, server.Watches())

		require.NoError(t, server.Create(ctx, newWidget("a", "two", "red")))
		require.NoError(t, RestartInformer[*widget](f, Scope{}))
		require.NoError(t, mine.WaitFresh(ctx))
		synctest.Wait()
		require.Equal(t, 2, server.Watches())
		require.ElementsMatch(t, []string{"updated one", "added two"}, d.read())
		require.Equal(t, []string{"added one", "added two"}, theirs.read(), "handlers of client-go's API stay, too")
		red.Release()
	})
}

// A lease on a stopped informer waits for the restart. A stopped informer is dropped like others
// when it is not used.
func TestStopInformerThatIsLeased(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		f := newWidgetFactory(t, server)
		begin(t, ctx, f)
		l := acquire(t, f, Scope{Namespaces: []string{"b", "a"}})
		synctest.Wait()
		require.NoError(t, StopInformer[*widget](f, Scope{Namespaces: []string{"a", "b"}}))
		other := acquire(t, f, Scope{Namespaces: []string{"a", "b"}})
		synctest.Wait()
		require.Zero(t, server.Watches())
		l.Release()
		require.NoError(t, RestartInformer[*widget](f, Scope{Namespaces: []string{"a", "b"}}))
		synctest.Wait()
		require.Equal(t, 2, server.Watches())
		require.NoError(t, StopInformer[*widget](f, Scope{Namespaces: []string{"a", "b"}}))
		other.Release()
		time.Sleep(defaultRetention + time.Second)
		synctest.Wait()
		require.Zero(t, held(f))
	})
}

// A restart reads everything again and replaces objects that a program has changed, though their
// version is the same.
func TestRestartInformer(t *testing.T) {
	for _, namespaces := range [][]string{nil, {"a", "b"}} {
		bubble(t, func(t *testing.T, ctx context.Context) {
			server := newWidgetServer(t)
			require.NoError(t, server.Create(ctx, newWidget("a", "one", "red")))
			require.NoError(t, server.Create(ctx, newWidget("b", "gone", "red")))
			f := newWidgetFactory(t, server)
			begin(t, ctx, f)
			l := acquire(t, f, Scope{Namespaces: namespaces})
			var d recorder[*widget]
			_, err := l.Informer().Handle(&d, informer.HandlerOptions{})
			require.NoError(t, err)
			synctest.Wait()
			require.ElementsMatch(t, []string{"added one", "added gone"}, d.read())
			one, err := l.Informer().Lister().Namespace("a").Get("one")
			require.NoError(t, err)
			one.Color = "spoilt"
			require.NoError(t, l.Informer().Shared().GetStore().Delete(newWidget("b", "gone", "")))

			require.NoError(t, RestartInformer[*widget](f, Scope{Namespaces: namespaces}))
			require.NoError(t, RestartInformer[*widget](f, Scope{Namespaces: namespaces}))
			synctest.Wait()
			require.NoError(t, l.WaitFresh(ctx))
			again, err := l.Informer().Lister().Namespace("a").Get("one")
			require.NoError(t, err)
			require.Equal(t, "red", again.Color)
			told := d.read()
			require.Subset(t, told, []string{"updated one", "added gone"})
			require.Subset(t, []string{"updated one", "added gone", "updated gone"}, told, "the second one may come when the first has read")
			require.Equal(t, max(1, len(namespaces)), server.Watches())
			require.NoError(t, server.Create(ctx, newWidget("a", "two", "red")))
			synctest.Wait()
			require.Equal(t, []string{"added two"}, d.read())
			l.Release()
		})
	}
}

// After RestartInformer, WaitFresh waits for the new run, not for the previous one.
func TestARestartIsWaitedForAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		require.NoError(t, server.Create(ctx, newWidget("a", "one", "red")))
		f := newWidgetFactory(t, server)
		begin(t, ctx, f)
		l := acquire(t, f, Scope{})
		require.NoError(t, l.WaitFresh(ctx))
		one, err := l.Informer().Lister().Namespace("a").Get("one")
		require.NoError(t, err)
		one.Color = "spoilt"

		require.NoError(t, RestartInformer[*widget](f, Scope{}))
		require.NoError(t, l.WaitFresh(ctx))
		again, err := l.Informer().Lister().Namespace("a").Get("one")
		require.NoError(t, err)
		require.Equal(t, "red", again.Color)
		l.Release()
	})
}

// A restart whose run ended before it read anything still applies to the next run.
func TestARestartCutShortAppliesToTheNextRun(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		require.NoError(t, server.Create(ctx, newWidget("a", "one", "red")))
		f := newWidgetFactory(t, server)
		begin(t, ctx, f)
		l := acquire(t, f, Scope{})
		require.NoError(t, l.WaitFresh(ctx))
		one, err := l.Informer().Lister().Namespace("a").Get("one")
		require.NoError(t, err)
		one.Color = "spoilt"

		resume := server.Stall(informertest.Request{})
		require.NoError(t, RestartInformer[*widget](f, Scope{}))
		synctest.Wait()
		l.Release()
		synctest.Wait()
		resume()
		l = acquire(t, f, Scope{})
		require.NoError(t, l.WaitFresh(ctx))
		again, err := l.Informer().Lister().Namespace("a").Get("one")
		require.NoError(t, err)
		require.Equal(t, "red", again.Color)
		l.Release()
	})
}

// An informer restarted before the factory was started begins with Start.
func TestRestartBeforeStart(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		f := newWidgetFactory(t, server)
		mine, err := For[*widget](f)
		require.NoError(t, err)
		require.NoError(t, RestartInformer[*widget](f, Scope{}))
		require.NoError(t, StopInformer[*widget](f, Scope{}))
		begin(t, ctx, f)
		require.False(t, mine.Status().Running)
		require.NoError(t, RestartInformer[*widget](f, Scope{}))
		require.NoError(t, mine.WaitSynced(ctx))
	})
}

func TestStopAndRestartRefuse(t *testing.T) {
	f := newWidgetFactory(t, newWidgetServer(t))
	for _, tell := range []func(*Factory, Scope) error{StopInformer[*widget], RestartInformer[*widget]} {
		require.ErrorIs(t, tell(f, Scope{}), ErrNoInformer)
		require.ErrorIs(t, tell(f, Scope{Labels: "color in"}), ErrScope)
	}
	require.ErrorIs(t, StopInformer[*nobody](f, Scope{}), ErrUnknownKind)
	f.InformerFor(&widget{}, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
		return cache.NewSharedIndexInformer(&cache.ListWatch{}, &widget{}, 0, nil)
	})
	require.ErrorIs(t, StopInformer[*widget](f, Scope{}), ErrForeign)
}

// An informer that the user runs can be stopped and restarted by the user alone.
func TestStopAndRestartRefuseAnInformerRunByHand(t *testing.T) {
	for name, started := range map[string]bool{"the factory is started": true, "the factory is not started": false} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, ctx context.Context) {
				server := newWidgetServer(t)
				f := newWidgetFactory(t, server)
				mine, err := For[*widget](f)
				require.NoError(t, err)
				byHand, end := context.WithCancel(ctx)
				wait, err := mine.Start(byHand)
				require.NoError(t, err)
				if started {
					begin(t, ctx, f)
				}
				require.ErrorIs(t, StopInformer[*widget](f, Scope{}), informer.ErrRunning)
				require.ErrorIs(t, RestartInformer[*widget](f, Scope{}), informer.ErrRunning)
				synctest.Wait()
				require.Equal(t, 1, server.Watches())
				end()
				require.NoError(t, wait())
				require.NoError(t, StopInformer[*widget](f, Scope{}), "it has ended")
			})
		})
	}
}

// nobody is a type unknown to all factories.
type nobody struct{ widget }
