package factory

import (
	"context"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
)

// An informer requested by For since the last Start runs when it is acquired.
func TestContract_D20_AcquireAfterForAfterStart(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		f := newWidgetFactory(t, server)
		begin(t, ctx, f)
		mine, err := For[*widget](f)
		require.NoError(t, err)
		synctest.Wait()
		require.False(t, mine.Status().Running, "it waits for the next Start, as client-go's")
		l := acquire(t, f, Scope{})
		require.Same(t, mine.Indexer(), l.Informer().Indexer())
		short, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		require.NoError(t, l.Informer().WaitSynced(short))
		require.Len(t, f.WaitForCacheSync(ctx.Done()), 1)
		l.Release()
		synctest.Wait()
		require.Equal(t, 1, server.Watches(), "For keeps it")
	})
}

// A leased informer runs until the context of the latest Start ends that lived when it began.
func TestContract_D20_UntilItsContextEnds(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		f := newWidgetFactory(t, server)
		first, endFirst := context.WithCancel(ctx)
		second, endSecond := context.WithCancel(ctx)
		early := acquire(t, f, Scope{Namespaces: []string{"a"}})
		f.StartWithContext(first)
		begin(t, second, f)
		late := acquire(t, f, Scope{Namespaces: []string{"b"}})
		synctest.Wait()
		require.Equal(t, 2, server.Watches())
		endSecond()
		synctest.Wait()
		require.False(t, early.Informer().Status().Stopped)
		require.True(t, late.Informer().Status().Stopped)
		later := acquire(t, f, Scope{Namespaces: []string{"b"}})
		require.NoError(t, later.Informer().WaitSynced(ctx), "the first context lives")
		late.Release()
		synctest.Wait()
		require.Equal(t, 2, server.Watches(), "the late lease was of the informer before")
		endFirst()
		synctest.Wait()
		require.Zero(t, server.Watches())
		early.Release()
		later.Release()
		require.Zero(t, held(f))
	})
}

// Of two contexts that end one after the other, the one of another Start does not matter.
func TestContract_D20_AnotherStart(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		f := newWidgetFactory(t, newWidgetServer(t))
		first, end := context.WithCancel(ctx)
		f.StartWithContext(first)
		l := acquire(t, f, Scope{})
		begin(t, ctx, f)
		end()
		synctest.Wait()
		require.True(t, l.Informer().Status().Stopped)
		require.ErrorIs(t, l.Informer().WaitFresh(ctx), informer.ErrStopped)
		begin(t, ctx, f)
		require.True(t, l.Informer().Status().Stopped, "an informer runs once")
		again := acquire(t, f, Scope{})
		require.NoError(t, again.Informer().WaitFresh(ctx))
		l.Release()
		require.True(t, again.Informer().Status().Running)
		again.Release()
	})
}

// A lease acquired while no context lives waits for the next Start, and takes handlers of both APIs.
func TestContract_D20_ALeaseBetweenTwoStarts(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		require.NoError(t, server.Create(ctx, newWidget("a", "one", "red")))
		f := newWidgetFactory(t, server)
		run, end := context.WithCancel(ctx)
		begin(t, run, f)
		end()
		l := acquire(t, f, Scope{})
		var d, theirs recorder[*widget]
		_, err := l.Informer().Handle(&d, informer.HandlerOptions{})
		require.NoError(t, err)
		_, err = l.Informer().Shared().AddEventHandler(theirs.funcs())
		require.NoError(t, err)
		fresh := make(chan error, 1)
		go func() { fresh <- l.Informer().WaitFresh(ctx) }()
		synctest.Wait()
		require.Empty(t, fresh, "nothing runs")
		begin(t, ctx, f)
		require.NoError(t, <-fresh)
		synctest.Wait()
		require.Equal(t, []string{"added one"}, d.read())
		require.Equal(t, []string{"added one"}, theirs.read())
		l.Release()
	})
}

// The next Start runs an informer that For requested after its leases had ended.
func TestContract_D20_ForAfterLeasesWereOver(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		f := newWidgetFactory(t, server)
		run, end := context.WithCancel(ctx)
		begin(t, run, f)
		l := acquire(t, f, Scope{})
		l.Release()
		end()
		synctest.Wait()
		mine, err := For[*widget](f)
		require.NoError(t, err)
		require.Empty(t, f.WaitForCacheSync(ctx.Done()))
		begin(t, ctx, f)
		require.True(t, mine.Status().Running)
		require.Equal(t, 1, server.Watches())
		require.Len(t, f.WaitForCacheSync(ctx.Done()), 1)
	})
}

// A requested informer that has stopped stays in the factory: a worker that drains still finds its objects.
// After another Start the next request makes a new one.
func TestContract_D24_ARequestedInformerStays(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		require.NoError(t, server.Create(ctx, newWidget("a", "one", "red")))
		f := newWidgetFactory(t, server)
		mine, err := For[*widget](f)
		require.NoError(t, err)
		run, end := context.WithCancel(ctx)
		begin(t, run, f)
		begin(t, run, f)
		end()
		synctest.Wait()
		again, err := For[*widget](f)
		require.NoError(t, err)
		require.Same(t, mine, again)
		require.Equal(t, []string{"a/one"}, names(mine))
		addHandlers(t, mine, informer.ErrStopped)
		_, err = mine.Shared().AddEventHandler(noop)
		require.ErrorContains(t, err, "was not added to shared informer because it has stopped already")

		begin(t, ctx, f)
		require.True(t, mine.Status().Stopped, "as in client-go")
		require.Zero(t, server.Watches())
		require.Len(t, f.WaitForCacheSync(ctx.Done()), 1)
		again, err = For[*widget](f)
		require.NoError(t, err)
		require.NotSame(t, mine, again)
		require.Empty(t, f.WaitForCacheSync(ctx.Done()), "it waits for the next Start")
		begin(t, ctx, f)
		require.Equal(t, []string{"a/one"}, names(again))
		require.Equal(t, []string{"a/one"}, names(mine))
	})
}

// A Start whose context has ended replaces nothing: a worker that drains still finds the objects, also if another part
// of the program starts the factory late.
func TestContract_D24_AStartThatIsTooLate(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		require.NoError(t, server.Create(ctx, newWidget("a", "one", "red")))
		f := newWidgetFactory(t, server)
		mine, err := For[*widget](f)
		require.NoError(t, err)
		run, end := context.WithCancel(ctx)
		begin(t, run, f)
		end()
		begin(t, run, f)
		again, err := For[*widget](f)
		require.NoError(t, err)
		require.Same(t, mine, again)
		require.Equal(t, []string{"a/one"}, names(again))
		begin(t, ctx, f)
		begin(t, run, f)
		again, err = For[*widget](f)
		require.NoError(t, err)
		require.NotSame(t, mine, again, "a Start that was not too late counts for good")
	})
}

// A lease takes the place of a requested informer that has stopped.
func TestContract_D24_ALeaseAfterTheStop(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		f := newWidgetFactory(t, server)
		mine, err := For[*widget](f)
		require.NoError(t, err)
		run, end := context.WithCancel(ctx)
		begin(t, run, f)
		end()
		begin(t, ctx, f)
		l := acquire(t, f, Scope{})
		require.NoError(t, l.Informer().WaitFresh(ctx))
		require.True(t, mine.Status().Stopped)
		again, err := For[*widget](f)
		require.NoError(t, err)
		require.Same(t, l.Informer().Indexer(), again.Indexer())
		l.Release()
		synctest.Wait()
		require.Equal(t, 1, server.Watches(), "it was requested meanwhile")
	})
}

// An informer that For requested while a lease ran it runs on, until the context of its Start ends.
func TestContract_D20_ForWhileALeaseRuns(t *testing.T) {
	for name, order := range map[string]func(release, end func()){
		"released first":     func(release, end func()) { release(); end() },
		"context ends first": func(release, end func()) { end(); release() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, ctx context.Context) {
				f := newWidgetFactory(t, newWidgetServer(t))
				run, end := context.WithCancel(ctx)
				begin(t, run, f)
				l := acquire(t, f, Scope{})
				mine, err := For[*widget](f)
				require.NoError(t, err)
				require.Len(t, f.WaitForCacheSync(ctx.Done()), 1)
				ended := false
				order(func() {
					l.Release()
					synctest.Wait()
					require.Equal(t, ended, mine.Status().Stopped)
				}, func() {
					end()
					ended = true
					synctest.Wait()
					require.True(t, mine.Status().Stopped)
				})
				require.Equal(t, 1, held(f), "it stays, with its objects")
			})
		})
	}
}

// A request of an informer that was only leased, and has stopped, makes a new one.
func TestContract_D24_ForAfterALeaseHasStopped(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		f := newWidgetFactory(t, newWidgetServer(t))
		run, end := context.WithCancel(ctx)
		begin(t, run, f)
		l := acquire(t, f, Scope{})
		end()
		mine, err := For[*widget](f)
		require.NoError(t, err)
		require.NotSame(t, l.Informer().Indexer(), mine.Indexer())
		l.Release()
		begin(t, ctx, f)
		require.True(t, mine.Status().Running)
	})
}

// Shutdown ends the leased informers and waits for their end. It ends no others.
func TestContract_B106_ShutdownEndsLeases(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		f := newWidgetFactory(t, server)
		begin(t, ctx, f)
		l := acquire(t, f, Scope{Labels: "a=b"})
		synctest.Wait()
		require.Equal(t, 1, server.Watches())
		f.Shutdown()
		require.True(t, l.Informer().Status().Stopped)
		require.False(t, l.Informer().Status().Running)
		l.Release()
	})
}

// After Shutdown the informers that have run take no handlers, and no new ones run.
func TestContract_D20_HandlersAfterShutdown(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		f := newWidgetFactory(t, newWidgetServer(t))
		leased := acquire(t, f, Scope{Namespaces: []string{"a"}})
		requested, err := For[*widget](f)
		require.NoError(t, err)
		run, end := context.WithCancel(ctx)
		begin(t, run, f)
		addHandlers(t, requested, nil)
		end()
		f.Shutdown()
		addHandlers(t, requested, informer.ErrStopped)
		addHandlers(t, leased.Informer(), informer.ErrStopped)
		_, err = leased.Informer().Shared().AddEventHandler(cache.ResourceEventHandlerFuncs{})
		require.ErrorIs(t, err, informer.ErrStopped)
		_, err = For[*corev1.Pod](f)
		require.ErrorIs(t, err, ErrShutdown)
	})
}

// Acquire returns no lease on an informer that never runs, also if Shutdown is called while the informer is made.
func TestContract_D20_ShutdownWhileAnInformerIsMade(t *testing.T) {
	for name, making := range map[string]func(f *Factory, i cache.SharedIndexInformer) (finish func()){
		"by a constructor": func(f *Factory, i cache.SharedIndexInformer) func() {
			gate := make(chan struct{})
			go f.InformerFor(&widget{}, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
				<-gate
				return i
			})
			return func() { close(gate) }
		},
		"by a caller that fails": func(f *Factory, _ cache.SharedIndexInformer) func() {
			k, gate := key[reflect.Type]{kind: reflect.TypeFor[*widget]()}, make(chan struct{})
			f.making[k] = gate
			return func() {
				f.mu.Lock()
				defer f.mu.Unlock()
				delete(f.making, k)
				close(gate)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, ctx context.Context) {
				server := newWidgetServer(t)
				f := newWidgetFactory(t, server)
				begin(t, ctx, f)
				finish := making(f, informer.New(server.Source(widgetResource, ""), informer.Options[*widget]{}).Shared())
				synctest.Wait()
				leased := make(chan error, 1)
				go func() {
					_, err := Acquire[*widget](f, Scope{})
					leased <- err
				}()
				synctest.Wait()
				f.Shutdown()
				finish()
				require.ErrorIs(t, <-leased, ErrShutdown)
				for h := range f.Informers() {
					require.True(t, h.Pinned, "the factory keeps what somebody uses, and nothing else")
				}
			})
		})
	}
}

// Shutdown waits for informers that the factory has dropped.
func TestContract_B106_ShutdownWaitsForWhatWasDropped(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		require.NoError(t, server.Create(ctx, newWidget("a", "one", "red")))
		f := newWidgetFactory(t, server)
		begin(t, ctx, f)
		l := acquire(t, f, Scope{})
		busy := make(chan struct{})
		_, err := l.Informer().Handle(informer.HandlerFunc[*widget](func(informer.Change[*widget]) { <-busy }), informer.HandlerOptions{})
		require.NoError(t, err)
		synctest.Wait()
		l.Release()
		require.Zero(t, held(f))
		down := make(chan struct{})
		go func() {
			defer close(down)
			f.Shutdown()
		}()
		time.Sleep(time.Hour)
		select {
		case <-down:
			require.Fail(t, "its handler is busy")
		default:
		}
		close(busy)
		<-down
	})
}

// addHandlers adds a handler in each way, and requires an error, or nil.
func addHandlers[T informer.Object](t *testing.T, i *informer.Informer[T], want error) {
	t.Helper()
	_, err := i.Handle(informer.HandlerFunc[T](func(informer.Change[T]) {}), informer.HandlerOptions{})
	require.ErrorIs(t, err, want)
	_, err = i.HandleBatch(func(informer.Batch[T]) {}, 1, informer.HandlerOptions{})
	require.ErrorIs(t, err, want)
	_, err = i.HandleKeys(func(indexer.Key) {}, informer.HandlerOptions{})
	require.ErrorIs(t, err, want)
}
