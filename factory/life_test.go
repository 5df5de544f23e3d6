package factory

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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

// A leased informer runs until all contexts given to Start have ended, in any order.
func TestContract_D20_UntilAllContextsEnd(t *testing.T) {
	for name, ends := range map[string]func(first, second context.CancelFunc){
		"first the first":  func(first, second context.CancelFunc) { first(); synctest.Wait(); second() },
		"first the second": func(first, second context.CancelFunc) { second(); synctest.Wait(); first() },
	} {
		t.Run(name, func(t *testing.T) {
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
				ends(func() {
					endFirst()
					synctest.Wait()
				}, func() {
					endSecond()
					synctest.Wait()
				})
				require.True(t, early.Informer().Status().Stopped)
				require.True(t, late.Informer().Status().Stopped)
				require.Zero(t, server.Watches())
			})
		})
	}
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		f := newWidgetFactory(t, server)
		first, endFirst := context.WithCancel(ctx)
		f.StartWithContext(first)
		l := acquire(t, f, Scope{})
		second, endSecond := context.WithCancel(ctx)
		begin(t, second, f)
		endSecond()
		synctest.Wait()
		require.False(t, l.Informer().Status().Stopped, "the first one has not ended")
		third, endThird := context.WithCancel(ctx)
		begin(t, third, f)
		endFirst()
		synctest.Wait()
		require.False(t, l.Informer().Status().Stopped, "the third one has not ended")
		endThird()
		synctest.Wait()
		require.True(t, l.Informer().Status().Stopped)
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

// An informer that has run for its pin is started again only for leases.
func TestContract_B105_OnlyLeasesStartAgain(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		f := newWidgetFactory(t, server)
		mine, err := For[*widget](f)
		require.NoError(t, err)
		run, end := context.WithCancel(ctx)
		begin(t, run, f)
		end()
		begin(t, ctx, f)
		require.True(t, mine.Status().Stopped)
		l := acquire(t, f, Scope{})
		synctest.Wait()
		require.False(t, mine.Status().Stopped)
		require.Equal(t, 1, server.Watches())
		l.Release()
	})
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		f := newWidgetFactory(t, server)
		mine, err := For[*widget](f)
		require.NoError(t, err)
		l := acquire(t, f, Scope{})
		run, end := context.WithCancel(ctx)
		f.StartWithContext(run)
		begin(t, ctx, f)
		require.Equal(t, 1, server.Watches())
		end()
		synctest.Wait()
		require.False(t, mine.Status().Stopped, "there is a lease, and a context that has not ended")
		require.Equal(t, 1, server.Watches())
		l.Release()
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

// After Shutdown no run follows that a handler could wait for. Only client-go's API takes one for an informer that
// has never run: the program may still run it.
func TestContract_D20_HandlersAfterShutdown(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		f := newWidgetFactory(t, newWidgetServer(t))
		leased, other := acquire(t, f, Scope{Namespaces: []string{"a"}}), acquire(t, f, Scope{Namespaces: []string{"b"}})
		requested, err := For[*widget](f)
		require.NoError(t, err)
		run, end := context.WithCancel(ctx)
		begin(t, run, f)
		begin(t, ctx, f)
		pods := f.Core().V1().Pods().Informer() // after the last Start
		never, ok := informer.As[*corev1.Pod](pods)
		require.True(t, ok)
		addHandlers(t, other.Informer(), nil)
		other.Release()
		end()
		synctest.Wait()
		addHandlers(t, requested, nil)
		f.Shutdown()
		late, ok := informer.As[*corev1.Node](f.Core().V1().Nodes().Informer())
		require.True(t, ok)

		addHandlers(t, requested, informer.ErrStopped)
		addHandlers(t, leased.Informer(), informer.ErrStopped)
		addHandlers(t, never, informer.ErrStopped)
		addHandlers(t, late, informer.ErrStopped)
		_, err = leased.Informer().Shared().AddEventHandler(cache.ResourceEventHandlerFuncs{})
		require.ErrorIs(t, err, informer.ErrStopped)
		_, err = pods.AddEventHandler(cache.ResourceEventHandlerFuncs{})
		require.NoError(t, err, "as in client-go")
	})
}

func TestContract_D20_UntypedHandlersAfterShutdown(t *testing.T) {
	untypedFactories(t, func(t *testing.T, ctx context.Context, factory func(string, func(*metav1.ListOptions)) untyped, _ func(string) error) {
		f := factory("", nil)
		f.ForResource(podResource)
		run, end := context.WithCancel(ctx)
		begin(t, run, f)
		late := f.ForResource(nodeResource)
		end()
		f.Shutdown()
		for _, i := range []cache.SharedIndexInformer{f.ForResource(podResource).Informer(), late.Informer()} {
			if typed, ok := informer.As[*unstructured.Unstructured](i); ok {
				addHandlers(t, typed, informer.ErrStopped)
				continue
			}
			typed, ok := informer.As[*metav1.PartialObjectMetadata](i)
			require.True(t, ok)
			addHandlers(t, typed, informer.ErrStopped)
		}
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

// Start counts the runs it begins before it returns: a Shutdown at once waits for them.
func TestStartCountsWhatItRuns(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		for range 50 {
			f := newWidgetFactory(t, server)
			mine, err := For[*widget](f)
			require.NoError(t, err)
			run, end := context.WithCancel(ctx)
			f.StartWithContext(run)
			require.True(t, mine.Status().Running)
			require.ErrorIs(t, mine.SetTransform(nil), informer.ErrRunning)
			require.Len(t, f.entries, 1)
			end()
			f.Shutdown()
			require.False(t, mine.Status().Running)
		}
	})
}

// An informer that does not run has no goroutine. An informer has as many goroutines in a factory's
// run as in a user's run, but for that of the user, which waits.
func TestGoroutines(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		stop := make(chan struct{})
		f := newWidgetFactory(t, server)
		count := func() int {
			synctest.Wait()
			stacks := make([]byte, 1<<20)
			stacks = stacks[:runtime.Stack(stacks, true)]
			return strings.Count(string(stacks), ", synctest bubble ")
		}
		idle := count()
		byHand := informer.New(server.Source(widgetResource, ""), informer.Options[*widget]{})
		run, end := context.WithCancel(ctx)
		go func() { _ = byHand.Run(run) }()
		one := count() - idle - 1 // that of Run waits
		require.Positive(t, one)
		end()
		require.Equal(t, idle, count())

		for i := range 10 {
			acquire(t, f, Scope{Namespaces: []string{string(rune('a' + i))}}).Release()
		}
		f.Start(stop)
		for i := range 10 {
			acquire(t, f, Scope{Namespaces: []string{string(rune('a' + i))}}).Release()
		}
		require.Equal(t, idle, count(), "nothing runs")
		leased := acquire(t, f, Scope{Namespaces: []string{"a"}})
		require.LessOrEqual(t, count()-idle, one+1, "one more watches the channel of Start")
		second := acquire(t, f, Scope{Namespaces: []string{"b"}})
		require.LessOrEqual(t, count()-idle, 2*one+1)
		leased.Release()
		second.Release()
		require.Equal(t, idle, count())
		close(stop)

		g := newWidgetFactory(t, server)
		_, err := For[*widget](g)
		require.NoError(t, err)
		run, end = context.WithCancel(ctx)
		g.StartWithContext(run)
		require.Equal(t, one, count()-idle)
		end()

		stop = make(chan struct{})
		byHand = informer.New(server.Source(widgetResource, ""), informer.Options[*widget]{})
		go byHand.Shared().Run(stop)
		one = count() - idle - 1 // as above
		close(stop)
		stop = make(chan struct{})
		g = newWidgetFactory(t, server)
		_, err = For[*widget](g)
		require.NoError(t, err)
		g.Start(stop)
		require.Equal(t, one, count()-idle, "with a channel")
		close(stop)
	})
}

// An informer made by a constructor runs once, and is counted, even if it is of another module.
func TestForeignInformersRunOnce(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		f := newWidgetFactory(t, server)
		constructed := 0
		theirs := f.InformerFor(&widget{}, func(_ kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
			return widgets{nil, &constructed}.defaultInformer(&widgetClient{server}, resync)
		})
		run, end := context.WithCancel(ctx)
		f.StartWithContext(run)
		begin(t, run, f)
		require.True(t, f.WaitForCacheSync(ctx.Done())[widgetType])
		end()
		synctest.Wait()
		begin(t, ctx, f)
		require.True(t, theirs.IsStopped())
		require.Zero(t, server.Watches())
		f.Shutdown()
	})
}

// Start may be called with the same context or channel any number of times.
func TestStartRemembersAContextOnce(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		f := newWidgetFactory(t, newWidgetServer(t))
		l := acquire(t, f, Scope{})
		stop := make(chan struct{})
		for range 10 {
			f.StartWithContext(ctx)
			f.Start(stop)
			f.Start(nil)
		}
		require.Len(t, f.starts.live, 3)
		require.Len(t, f.starts.unwatches, 3)
		close(stop)
		synctest.Wait()
		require.True(t, l.Informer().Status().Running)
		l.Release()
		synctest.Wait()
		require.Empty(t, f.starts.unwatches)
		f.StartWithContext(ctx)
		require.Len(t, f.starts.live, 2)
	})
}

// An informer that For requested while a lease ran it has the run of the next Start, though the
// lease is over: its cache follows the server, and WaitForCacheSync leaves it out until then.
func TestContract_B105_ForWhileALeaseRuns(t *testing.T) {
	for name, order := range map[string]func(release, end func()){
		"released first":     func(release, end func()) { release(); end() },
		"context ends first": func(release, end func()) { end(); release() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, ctx context.Context) {
				server := newWidgetServer(t)
				f := newWidgetFactory(t, server)
				run, end := context.WithCancel(ctx)
				begin(t, run, f)
				l := acquire(t, f, Scope{})
				mine, err := For[*widget](f)
				require.NoError(t, err)
				synctest.Wait()
				order(l.Release, func() { end(); synctest.Wait() })
				require.True(t, mine.Status().Stopped)
				require.Empty(t, f.WaitForCacheSync(ctx.Done()), "it waits for the next Start")
				require.NoError(t, server.Create(ctx, newWidget("a", "one", "red")))
				begin(t, ctx, f)
				require.Len(t, f.WaitForCacheSync(ctx.Done()), 1)
				require.Equal(t, []string{"a/one"}, names(mine))
			})
		})
	}
}

// A lease notices nothing of the end of one of two contexts given to Start: its loops and waits go
// on.
func TestContract_D20_AnotherContextKeepsTheRun(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		f := newWidgetFactory(t, server)
		mine, err := For[*widget](f)
		require.NoError(t, err)
		l := acquire(t, f, Scope{})
		first, endFirst := context.WithCancel(ctx)
		second, endSecond := context.WithCancel(ctx)
		f.StartWithContext(first)
		begin(t, second, f)
		seen, looped := make(chan string, 10), make(chan struct{})
		go func() {
			defer close(looped)
			for c := range l.Informer().Changes(ctx, informer.HandlerOptions{}) {
				seen <- c.New.Name
			}
		}()
		waited := make(chan error, 1)
		go func() { waited <- l.Informer().WaitVersion(ctx, "1000000") }()
		synctest.Wait()
		before := server.Counts()
		endFirst()
		synctest.Wait()
		require.Empty(t, waited, "a wait goes on")
		require.NoError(t, server.Create(ctx, newWidget("a", "one", "red")))
		require.Equal(t, "one", <-seen)
		require.Equal(t, before.Watch+before.WatchList, server.Counts().Watch+server.Counts().WatchList, "it is the same run")
		require.False(t, mine.Status().Stopped)
		endSecond()
		<-looped
		require.ErrorIs(t, <-waited, informer.ErrStopped)
		l.Release()
	})
}

// A restarted informer keeps the context of its Start, so that Shutdown does not wait for another.
func TestContract_B106_ARestartedInformerEndsWithItsContext(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		f := newWidgetFactory(t, newWidgetServer(t))
		mine, err := For[*widget](f)
		require.NoError(t, err)
		run, end := context.WithCancel(ctx)
		begin(t, run, f)
		f.StartWithContext(ctx)
		require.NoError(t, RestartInformer[*widget](f, Scope{}))
		require.False(t, mine.Status().Stopped)
		end()
		synctest.Wait()
		require.True(t, mine.Status().Stopped)
		f.Shutdown()
	})
}

// Between two Starts, a new lease takes handlers and waits, whether the scope was used before or
// not.
func TestContract_D24_ALeaseBetweenTwoStarts(t *testing.T) {
	for name, used := range map[string]bool{"used before": true, "new": false} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, ctx context.Context) {
				server := newWidgetServer(t)
				require.NoError(t, server.Create(ctx, newWidget("a", "one", "red")))
				f := newWidgetFactory(t, server)
				run, end := context.WithCancel(ctx)
				begin(t, run, f)
				if used {
					l := acquire(t, f, Scope{})
					require.NoError(t, l.WaitFresh(ctx))
					l.Release()
				}
				end()
				synctest.Wait()
				l := acquire(t, f, Scope{})
				var d, theirs recorder[*widget]
				_, err := l.Informer().Handle(&d, informer.HandlerOptions{})
				require.NoError(t, err)
				_, err = l.Informer().Shared().AddEventHandler(theirs.funcs())
				require.NoError(t, err)
				short, cancel := context.WithTimeout(ctx, time.Minute)
				defer cancel()
				require.ErrorIs(t, l.WaitFresh(short), informer.ErrNotSynced)
				fresh := make(chan error, 1)
				go func() { fresh <- l.WaitFresh(ctx) }()
				synctest.Wait()
				require.Empty(t, fresh, "nothing runs")
				begin(t, ctx, f)
				require.NoError(t, <-fresh)
				synctest.Wait()
				require.Equal(t, []string{"added one"}, d.read())
				require.Equal(t, []string{"added one"}, theirs.read())

				if used {
					f.Shutdown()
					require.ErrorIs(t, l.WaitFresh(ctx), informer.ErrStopped, "no run follows")
				}
				l.Release()
			})
		})
	}
}

// endsWhenAsked is a context that ends just after it has been asked so often whether it lives.
type endsWhenAsked struct {
	context.Context
	end   context.CancelFunc
	times int
}

func (e *endsWhenAsked) Err() error {
	defer func() {
		if e.times--; e.times == 0 {
			e.end()
		}
	}()
	return e.Context.Err()
}

// A context given to Start may end at any moment of a call.
func TestAContextEndsDuringACall(t *testing.T) {
	for times := range 12 {
		bubble(t, func(t *testing.T, ctx context.Context) {
			server := newWidgetServer(t)
			f := newWidgetFactory(t, server)
			start, end := context.WithCancel(ctx)
			f.StartWithContext(&endsWhenAsked{start, end, times + 1})
			acquire(t, f, Scope{})
			synctest.Wait()
			require.NoError(t, RestartInformer[*widget](f, Scope{}))
			end()
			synctest.Wait()
			require.Zero(t, server.Watches())
		})
	}
}
