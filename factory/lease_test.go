package factory

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
)

func acquire(t *testing.T, f *Factory, s Scope) *Lease[*widget] {
	t.Helper()
	l, err := Acquire[*widget](f, s)
	require.NoError(t, err)
	return l
}

// held returns the number of a factory's informers.
func held(f *Factory) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.entries)
}

// names lists the objects of an informer.
func names(i *informer.Informer[*widget]) []string {
	var all []string
	for w := range i.Indexer().All() {
		all = append(all, w.Namespace+"/"+w.Name)
	}
	return all
}

// Several informers of one type exist at the same time, each as long as it is used.
func TestContract_D20_Scopes(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		for _, w := range []*widget{newWidget("a", "one", "red"), newWidget("a", "two", "blue"), newWidget("b", "three", "red"), newWidget("c", "four", "red")} {
			require.NoError(t, server.Create(ctx, w))
		}
		f := newWidgetFactory(t, server)
		begin(t, ctx, f)
		for _, test := range []struct {
			scope   Scope
			watches int
			want    []string
		}{
			{Scope{}, 1, []string{"a/one", "a/two", "b/three", "c/four"}},
			{Scope{Labels: "color=red"}, 1, []string{"a/one", "b/three", "c/four"}},
			{Scope{Labels: "color in (red),color!=blue"}, 1, []string{"a/one", "b/three", "c/four"}},
			{Scope{Fields: "metadata.name=two"}, 1, []string{"a/two"}},
			{Scope{Namespaces: []string{"a"}}, 1, []string{"a/one", "a/two"}},
			{Scope{Namespaces: []string{"b", "a"}, Labels: "color=red"}, 2, []string{"a/one", "b/three"}},
			{Scope{Namespaces: []string{"nowhere"}}, 1, nil},
		} {
			before := server.Watches()
			l := acquire(t, f, test.scope)
			require.NoError(t, l.Informer().WaitSynced(ctx))
			require.ElementsMatch(t, test.want, names(l.Informer()), test.scope)
			synctest.Wait()
			require.Equal(t, before+test.watches, server.Watches(), test.scope)
			l.Release()
			l.Release()
			synctest.Wait()
			require.Equal(t, before, server.Watches(), test.scope)
		}
		require.Empty(t, f.WaitForCacheSync(ctx.Done()), "leases are not the factory's own informers")
	})
}

// Equal scopes share an informer, and the last release stops it.
func TestContract_D20_LastReleaseStops(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		f := newWidgetFactory(t, server)
		begin(t, ctx, f)
		first := acquire(t, f, Scope{Namespaces: []string{"a", "b"}, Labels: "x=1,y in (2,3)"})
		second := acquire(t, f, Scope{Namespaces: []string{"b", "a"}, Labels: "y in (3,2), x=1"})
		require.Same(t, first.Informer().Indexer(), second.Informer().Indexer())
		synctest.Wait()
		require.Equal(t, 2, server.Watches())
		first.Release()
		first.Release()
		synctest.Wait()
		require.Equal(t, 2, server.Watches(), "a second release of the same lease counts for nothing")
		second.Release()
		synctest.Wait()
		require.Zero(t, server.Watches())
		require.True(t, second.Informer().Status().Stopped)
	})
}

// The handlers of a lease end with it, and no more can be added through it. Handlers added
// through For stay.
func TestContract_D24_HandlersEndWithTheirLease(t *testing.T) {
	for name, add := range map[string]func(l *Lease[*widget], d *recorder[*widget]) error{
		"Handle": func(l *Lease[*widget], d *recorder[*widget]) error {
			_, err := l.Informer().Handle(d, informer.HandlerOptions{})
			return err
		},
		"HandleBatch": func(l *Lease[*widget], d *recorder[*widget]) error {
			_, err := l.Informer().HandleBatch(func(b informer.Batch[*widget]) {
				for c := range b.All() {
					d.Handle(c)
				}
			}, 10, informer.HandlerOptions{})
			return err
		},
		"HandleKeys": func(l *Lease[*widget], d *recorder[*widget]) error {
			_, err := l.Informer().HandleKeys(func(key indexer.Key) {
				d.Handle(informer.Change[*widget]{Kind: informer.Added, New: newWidget(key.Namespace, key.Name, "")})
			}, informer.HandlerOptions{})
			return err
		},
		"Shared": func(l *Lease[*widget], d *recorder[*widget]) error {
			_, err := l.Informer().Shared().AddEventHandler(d.funcs())
			return err
		},
		"Shared with a resync": func(l *Lease[*widget], d *recorder[*widget]) error {
			_, err := l.Informer().Shared().AddEventHandlerWithResyncPeriod(d.funcs(), time.Hour)
			return err
		},
		"As of a typed view": func(l *Lease[*widget], d *recorder[*widget]) error {
			again, _ := informer.As[*widget](cache.NewTypedSharedIndexInformer[*widget](l.Informer().Shared()))
			_, err := again.Handle(d, informer.HandlerOptions{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, ctx context.Context) {
				server := newWidgetServer(t)
				f := newWidgetFactory(t, server)
				begin(t, ctx, f)
				first, second := acquire(t, f, Scope{}), acquire(t, f, Scope{})
				var ofFirst, ofSecond, ofFor recorder[*widget]
				require.NoError(t, add(first, &ofFirst))
				require.NoError(t, add(second, &ofSecond))
				mine, err := For[*widget](f)
				require.NoError(t, err)
				_, err = mine.Handle(&ofFor, informer.HandlerOptions{})
				require.NoError(t, err)
				require.NoError(t, server.Create(ctx, newWidget("a", "one", "red")))
				synctest.Wait()
				first.Release()
				require.Len(t, mine.Status().Handlers, 2)
				require.ErrorIs(t, add(first, &ofFirst), informer.ErrStopped)
				require.NoError(t, server.Create(ctx, newWidget("a", "two", "red")))
				synctest.Wait()
				require.Equal(t, []string{"added one"}, ofFirst.read())
				second.Release()
				require.NoError(t, server.Create(ctx, newWidget("a", "three", "red")))
				synctest.Wait()
				require.Equal(t, []string{"added one", "added two"}, ofSecond.read())
				require.Equal(t, []string{"added one", "added two", "added three"}, ofFor.read())
			})
		})
	}
}

// A loop over the changes of a lease ends with it.
func TestContract_D24_LoopsEndWithTheirLease(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		f := newWidgetFactory(t, server)
		begin(t, ctx, f)
		l, other := acquire(t, f, Scope{}), acquire(t, f, Scope{})
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for range l.Informer().Changes(ctx, informer.HandlerOptions{}) {
				t.Error("there is nothing to tell")
			}
		}()
		synctest.Wait()
		l.Release()
		<-ended
		other.Release()
	})
}

// An informer acquired again continues from its stored objects. They are dropped only after the
// retention time.
func TestContract_D24_Restart(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		kept, changed, gone := newWidget("a", "kept", "red"), newWidget("a", "changed", "red"), newWidget("a", "gone", "red")
		for _, w := range []*widget{kept, changed, gone} {
			require.NoError(t, server.Create(ctx, w))
		}
		f := newWidgetFactory(t, server)
		begin(t, ctx, f)
		l := acquire(t, f, Scope{Namespaces: []string{"a"}})
		synctest.Wait()

		l.Release()
		synctest.Wait()
		require.True(t, l.Informer().Shared().IsStopped())
		require.True(t, l.Informer().Status().Stopped)
		require.NoError(t, l.Informer().WaitSynced(ctx), "it has been")
		require.Len(t, names(l.Informer()), 3, "the store stays readable")
		changed.Color = "blue"
		require.NoError(t, server.Update(ctx, changed))
		require.NoError(t, server.Delete(ctx, gone))
		require.NoError(t, server.Create(ctx, newWidget("a", "new", "red")))
		synctest.Wait()
		resume := server.Stall(informertest.Request{})

		again := acquire(t, f, Scope{Namespaces: []string{"a"}})
		require.Same(t, l.Informer().Indexer(), again.Informer().Indexer())
		require.False(t, again.Informer().Shared().IsStopped())
		var d recorder[*widget]
		_, err := again.Informer().Handle(&d, informer.HandlerOptions{})
		require.NoError(t, err)
		l.Release() // the first lease again: no effect
		synctest.Wait()
		require.ElementsMatch(t, []string{"added kept", "added changed", "added gone"}, d.read(), "what it held")
		resume()
		require.NoError(t, again.WaitFresh(ctx))
		synctest.Wait()
		require.Equal(t, 1, server.Watches())
		require.ElementsMatch(t, []string{"deleted gone", "updated changed", "added new"}, d.read(), "the difference, and nothing else")
	})
}

// The handlers of a lease stay as long as it does, and get the difference when the next Start
// continues.
func TestContract_D24_HandlersStayBetweenRuns(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		require.NoError(t, server.Create(ctx, newWidget("a", "one", "red")))
		f := newWidgetFactory(t, server)
		run, end := context.WithCancel(ctx)
		begin(t, run, f)
		l := acquire(t, f, Scope{})
		var d recorder[*widget]
		_, err := l.Informer().Handle(&d, informer.HandlerOptions{})
		require.NoError(t, err)
		synctest.Wait()
		require.Equal(t, []string{"added one"}, d.read())
		end()
		synctest.Wait()
		require.NoError(t, server.Create(ctx, newWidget("a", "two", "red")))
		begin(t, ctx, f)
		require.Equal(t, []string{"added two"}, d.read())
		l.Release()
	})
}

// WaitFresh waits for the current state, while synced may refer to an older one.
func TestContract_D24_WaitFresh(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		require.NoError(t, server.Create(ctx, newWidget("a", "one", "red")))
		f := newWidgetFactory(t, server)
		early := acquire(t, f, Scope{Namespaces: []string{"a", "b"}})
		within := func(d time.Duration) context.Context {
			short, cancel := context.WithTimeoutCause(ctx, d, errors.New("long enough"))
			t.Cleanup(cancel)
			return short
		}
		require.ErrorIs(t, early.WaitFresh(within(time.Minute)), informer.ErrNotSynced, "nothing runs")
		begin(t, ctx, f)
		require.NoError(t, early.WaitFresh(ctx))
		early.Release()
		synctest.Wait()
		require.ErrorIs(t, early.WaitFresh(ctx), informer.ErrStopped)

		require.NoError(t, server.Create(ctx, newWidget("a", "two", "red")))
		resume := server.Stall(informertest.Request{Namespace: "a"})
		l := acquire(t, f, Scope{Namespaces: []string{"a", "b"}})
		require.NoError(t, l.Informer().WaitSynced(ctx), "it has been")
		require.Equal(t, []string{"a/one"}, names(l.Informer()))
		err := l.WaitFresh(within(time.Second))
		require.ErrorIs(t, err, informer.ErrNotSynced)
		require.ErrorContains(t, err, "long enough")
		resume()
		require.NoError(t, l.WaitFresh(ctx))
		require.ElementsMatch(t, []string{"a/one", "a/two"}, names(l.Informer()))
		other := acquire(t, f, Scope{Namespaces: []string{"a", "b"}})
		require.NoError(t, other.WaitFresh(ctx), "it runs already")

		resume = server.Stall(informertest.Request{})
		server.CutWatches()
		synctest.Wait()
		require.ErrorIs(t, l.WaitFresh(within(time.Second)), informer.ErrNotSynced, "nobody knows how old it is")
		resume()
		require.NoError(t, l.WaitFresh(ctx))
	})
}

// An unused informer is dropped after the retention time, which an option sets.
func TestContract_D24_Retention(t *testing.T) {
	for name, test := range map[string]struct {
		options    []Option
		kept, gone time.Duration // negative: never
	}{
		"5 minutes by default": {nil, 5*time.Minute - time.Second, 5*time.Minute + time.Second},
		"an hour":              {[]Option{WithRetention(time.Hour)}, time.Hour - time.Second, time.Hour + time.Second},
		"at once":              {[]Option{WithRetention(0)}, -1, 0},
		"never":                {[]Option{WithRetention(-1)}, 1000 * time.Hour, -1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, ctx context.Context) {
				server := newWidgetServer(t)
				f := newWidgetFactory(t, server, test.options...)
				begin(t, ctx, f)
				const times = 3
				for range times {
					l := acquire(t, f, Scope{})
					require.NoError(t, l.Informer().WaitSynced(ctx))
					store := l.Informer().Indexer()
					time.Sleep(10 * time.Minute)
					require.Equal(t, 1, held(f), "somebody uses it")
					l.Release()
					synctest.Wait()
					if test.kept >= 0 {
						time.Sleep(test.kept)
						again := acquire(t, f, Scope{})
						require.Same(t, store, again.Informer().Indexer())
						again.Release() // the retention time begins again
						synctest.Wait()
						time.Sleep(test.kept)
						require.Equal(t, 1, held(f))
					}
					if test.gone >= 0 {
						time.Sleep(test.gone - max(0, test.kept))
						synctest.Wait()
						require.Zero(t, held(f))
						require.NoError(t, Configure(f, informer.Options[*widget]{}), "there is none")
					}
				}
				pinned, err := For[*widget](f)
				require.NoError(t, err)
				acquire(t, f, Scope{}).Release()
				time.Sleep(2 * time.Hour)
				again, err := For[*widget](f)
				require.NoError(t, err)
				require.Same(t, pinned, again, "For keeps it")
			})
		})
	}
}

// An informer that was never started is dropped, too.
func TestContract_D24_RetentionBeforeStart(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		f := newWidgetFactory(t, newWidgetServer(t))
		acquire(t, f, Scope{}).Release()
		time.Sleep(defaultRetention + time.Second)
		synctest.Wait()
		require.Zero(t, held(f))
	})
}

// An informer released and acquired in quick succession is running in the end.
func TestContract_D24_RestartInHaste(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		f := newWidgetFactory(t, server)
		begin(t, ctx, f)
		l := acquire(t, f, Scope{})
		for range 50 {
			l.Release()
			l = acquire(t, f, Scope{})
			_, err := l.Informer().Handle(&recorder[*widget]{}, informer.HandlerOptions{})
			require.NoError(t, err, "who has a lease can add handlers")
		}
		require.NoError(t, l.Informer().WaitSynced(ctx))
		require.NoError(t, server.Create(ctx, newWidget("a", "one", "red")))
		synctest.Wait()
		require.Equal(t, []string{"a/one"}, names(l.Informer()))
		require.Equal(t, 1, server.Watches())
	})
}

// An informer of several namespaces is synced when all of them are.
func TestContract_D20_NamespaceListSyncsAsOne(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		require.NoError(t, server.Create(ctx, newWidget("a", "one", "red")))
		f := NewSharedInformerFactory(nil, 0)
		resource := widgetsOf(server)
		open := make(chan struct{})
		resource.Source = func(namespace string) reflector.Source {
			if namespace == "b" {
				<-open
			}
			return server.Source(widgetResource, namespace)
		}
		require.NoError(t, Register[*widget](f, resource))
		begin(t, ctx, f)
		l := acquire(t, f, Scope{Namespaces: []string{"a", "b"}})
		time.Sleep(time.Minute)
		require.Equal(t, []string{"a/one"}, names(l.Informer()))
		require.False(t, l.Informer().Status().Synced)
		close(open)
		require.NoError(t, l.Informer().WaitSynced(ctx))
	})
}

func TestContract_D20_BeforeStart(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		f := newWidgetFactory(t, server)
		kept, dropped := acquire(t, f, Scope{Namespaces: []string{"a"}}), acquire(t, f, Scope{Namespaces: []string{"b"}})
		dropped.Release()
		synctest.Wait()
		require.Zero(t, server.Counts().WatchList)
		begin(t, ctx, f)
		require.True(t, kept.Informer().Status().Synced)
		require.False(t, dropped.Informer().Status().Running)
		require.Equal(t, 1, server.Watches())
	})
}

// A lease that outlives the context of one Start continues with the next.
func TestContract_D20_StartAgain(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		f := newWidgetFactory(t, server)
		l := acquire(t, f, Scope{})
		run, end := context.WithCancel(ctx)
		begin(t, run, f)
		end()
		begin(t, ctx, f)
		require.False(t, l.Informer().Shared().IsStopped())
		require.Equal(t, 1, server.Watches())
		l.Release()
		synctest.Wait()
		require.Zero(t, server.Watches())
		f.Shutdown() // all its runs have ended, though ctx has not
		_, err := Acquire[*widget](f, Scope{})
		require.ErrorIs(t, err, ErrShutdown)
	})
}

// The zero scope is the informer of For and the accessors, so it is kept forever.
func TestContract_D20_ZeroScopeIsFors(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		f := newWidgetFactory(t, server)
		begin(t, ctx, f)
		l := acquire(t, f, Scope{})
		mine, err := For[*widget](f)
		require.NoError(t, err)
		require.Same(t, l.Informer().Indexer(), mine.Indexer())
		l.Release()
		later := acquire(t, f, Scope{})
		require.Same(t, mine.Indexer(), later.Informer().Indexer())
		later.Release()
		synctest.Wait()
		require.Equal(t, 1, server.Watches())
		require.Len(t, f.WaitForCacheSync(ctx.Done()), 1, "it is the factory's own now, and runs")
	})
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		f := newWidgetFactory(t, server)
		l := acquire(t, f, Scope{})
		generic, err := f.ForResource(widgetResource)
		require.NoError(t, err)
		require.Same(t, l.Informer().Shared().GetStore(), generic.Informer().GetStore())
		require.Empty(t, f.WaitForCacheSync(ctx.Done()))
		l.Release()
		begin(t, ctx, f)
		require.True(t, generic.Informer().HasSynced())
		require.Equal(t, 1, server.Watches())
	})
}

// A released informer is started again by For, so that it accepts handlers. The constructor of a
// later InformerFor does not run.
func TestContract_D20_ForAfterRelease(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		f := newWidgetFactory(t, server)
		begin(t, ctx, f)
		l := acquire(t, f, Scope{})
		l.Release()
		mine := f.InformerFor(&widget{}, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
			require.Fail(t, "there is one")
			return nil
		})
		_, err := mine.AddEventHandler(noop)
		require.NoError(t, err)
		require.True(t, cache.WaitForCacheSync(ctx.Done(), mine.HasSynced))
		synctest.Wait()
		require.Equal(t, 1, server.Watches())
	})
}

// While a run is about to stop, which a transform may delay, only callers that need this informer
// wait.
func TestContract_D20_ReleasedWhileBusy(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		require.NoError(t, server.Create(ctx, newWidget("a", "one", "red")))
		f := newWidgetFactory(t, server)
		busy := make(chan struct{})
		require.NoError(t, Configure(f, informer.Options[*widget]{Transform: func(w *widget) (*widget, error) {
			<-busy
			_, err := For[*corev1.Node](f) // a transform may call the factory
			return w, err
		}}))
		begin(t, ctx, f)
		l := acquire(t, f, Scope{Namespaces: []string{"a"}})
		synctest.Wait()
		l.Release()
		acquired := make(chan *Lease[*widget])
		go func() { acquired <- acquire(t, f, Scope{Namespaces: []string{"a"}}) }()
		synctest.Wait()
		require.Empty(t, acquired)
		other := acquire(t, f, Scope{Namespaces: []string{"nowhere"}})
		require.NoError(t, other.Informer().WaitSynced(ctx))
		close(busy)
		require.NoError(t, (<-acquired).Informer().WaitSynced(ctx))
		synctest.Wait()
		require.Equal(t, []string{"a/one"}, names(l.Informer()))
	})
}

// Many goroutines acquire, release and start. In the end all used informers run, and no others.
func TestContract_D20_ManyAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		require.NoError(t, server.Create(ctx, newWidget("a", "one", "red")))
		f := newWidgetFactory(t, server)
		scopes := []Scope{{Labels: "color"}, {Labels: "color=red"}, {Namespaces: []string{"a"}}, {Namespaces: []string{"b", "a"}}}
		var users sync.WaitGroup
		for n := range 8 {
			users.Go(func() {
				for i := range 50 {
					if i == 10 {
						f.StartWithContext(ctx)
					}
					l, err := Acquire[*widget](f, scopes[(n+i)%len(scopes)])
					if !assert.NoError(t, err) {
						return
					}
					reg, err := l.Informer().Handle(&recorder[*widget]{}, informer.HandlerOptions{})
					if assert.NoError(t, err) {
						reg.Stop()
					}
					if i%3 == 0 {
						time.Sleep(time.Millisecond)
					}
					l.Release()
				}
			})
		}
		users.Wait()
		synctest.Wait()
		require.Zero(t, server.Watches())
		for _, s := range scopes {
			l := acquire(t, f, s)
			require.NoError(t, l.Informer().WaitSynced(ctx))
			require.Equal(t, []string{"a/one"}, names(l.Informer()))
		}
		synctest.Wait()
		require.Equal(t, 5, server.Watches())
	})
}

// An acquired informer that the user starts belongs to the user.
func TestLeaseRunByHand(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		f := newWidgetFactory(t, server)
		l := acquire(t, f, Scope{})
		byHand, end := context.WithCancel(ctx)
		wait, err := l.Informer().Start(byHand)
		require.NoError(t, err)
		begin(t, ctx, f)
		l.Release()
		acquire(t, f, Scope{}).Release()
		synctest.Wait()
		require.Equal(t, 1, server.Watches())
		end()
		require.NoError(t, wait())
	})
}

// If the user runs the informer by hand when the factory's next run is due, nobody waits for the factory's.
func TestWaitFreshWhileTheUserRunsTheInformer(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		f := newWidgetFactory(t, newWidgetServer(t))
		l := acquire(t, f, Scope{})
		first, end := context.WithCancel(ctx)
		f.StartWithContext(first)
		require.NoError(t, l.WaitFresh(ctx))
		end()
		synctest.Wait()
		fresh := make(chan error, 1)
		go func() { fresh <- l.WaitFresh(ctx) }()
		synctest.Wait()
		_, err := l.Informer().Start(ctx)
		require.NoError(t, err)
		f.StartWithContext(ctx)
		time.Sleep(time.Minute)
		select {
		case err := <-fresh:
			require.NoError(t, err)
		default:
			require.Fail(t, "it waits for a run of the factory")
		}
	})
}

func TestContract_D20_BadScopes(t *testing.T) {
	f := NewSharedInformerFactory(fake.NewClientset(), 0)
	for name, s := range map[string]Scope{
		"a namespace twice":     {Namespaces: []string{"a", "b", "a"}},
		"an empty namespace":    {Namespaces: []string{""}},
		"labels that are none":  {Labels: "color in"},
		"fields that are none":  {Fields: "metadata.name"},
		"both of them, in part": {Labels: "a=b", Fields: "c"},
	} {
		_, err := Acquire[*corev1.Pod](f, s)
		require.ErrorIs(t, err, ErrScope, name)
		require.ErrorContains(t, err, "*v1.Pod", name)
	}
	_, err := Acquire[*corev1.Node](f, Scope{Namespaces: []string{"a"}})
	require.ErrorIs(t, err, ErrScope)
	require.ErrorContains(t, err, "nodes has no namespaces")
	_, err = Acquire[*widget](f, Scope{})
	require.ErrorIs(t, err, ErrUnknownKind)
	require.Empty(t, f.entries)
}

// A scope restricts the objects further than the factory's tweak and namespace.
func TestContract_D20_InAFilteredFactory(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		for _, w := range []*widget{newWidget("a", "one", "red"), newWidget("a", "two", "blue"), newWidget("b", "three", "red")} {
			require.NoError(t, server.Create(ctx, w))
		}
		f := newWidgetFactory(t, server, WithNamespace("a"), WithTweakListOptions(func(o *metav1.ListOptions) {
			o.LabelSelector = "color=red" // replaces any other selector
		}))
		begin(t, ctx, f)
		for _, test := range []struct {
			scope Scope
			want  []string
		}{
			{Scope{}, []string{"a/one"}},
			{Scope{Labels: "color"}, []string{"a/one"}},
			{Scope{Labels: "color=blue"}, nil},
			{Scope{Namespaces: []string{"a"}}, []string{"a/one"}},
		} {
			l := acquire(t, f, test.scope)
			require.NoError(t, l.Informer().WaitSynced(ctx))
			require.Equal(t, test.want, names(l.Informer()), test.scope)
		}
	})
}

// A factory of one namespace rejects a scope of another namespace.
func TestContract_D20_ScopesOutsideTheFactorys(t *testing.T) {
	f := newWidgetFactory(t, newWidgetServer(t), WithNamespace("a"))
	for _, namespaces := range [][]string{{"b"}, {"a", "b"}} {
		_, err := Acquire[*widget](f, Scope{Namespaces: namespaces})
		require.ErrorIs(t, err, ErrScope)
		require.ErrorContains(t, err, `"b"`)
		require.ErrorContains(t, err, `"a"`)
	}
	require.Zero(t, held(f))
	acquire(t, f, Scope{})
	acquire(t, f, Scope{Namespaces: []string{"a"}})
	require.Equal(t, 1, held(f), "they are the same")
}
