package factory

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
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

// The last release drops the informer. Acquired again, the objects are read again; the old store stays readable.
func TestContract_D24_AcquiredAgain(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		require.NoError(t, server.Create(ctx, newWidget("a", "one", "red")))
		f := newWidgetFactory(t, server)
		begin(t, ctx, f)
		l := acquire(t, f, Scope{Namespaces: []string{"a"}})
		require.NoError(t, l.Informer().WaitFresh(ctx))
		l.Release()
		require.Zero(t, held(f))
		require.NoError(t, Configure(f, informer.Options[*widget]{}), "there is none")
		synctest.Wait()
		require.True(t, l.Informer().Shared().IsStopped())
		require.NoError(t, l.Informer().WaitSynced(ctx), "it has been")
		require.ErrorIs(t, l.Informer().WaitFresh(ctx), informer.ErrStopped)
		require.NoError(t, server.Create(ctx, newWidget("a", "two", "red")))

		again := acquire(t, f, Scope{Namespaces: []string{"a"}})
		var d recorder[*widget]
		_, err := again.Informer().Handle(&d, informer.HandlerOptions{})
		require.NoError(t, err)
		l.Release() // the first lease again: no effect
		require.NoError(t, again.Informer().WaitFresh(ctx))
		synctest.Wait()
		require.ElementsMatch(t, []string{"added one", "added two"}, d.read())
		require.Equal(t, []string{"a/one"}, names(l.Informer()))
		require.Equal(t, 1, server.Watches())
		again.Release()
	})
}

// An informer that was never started is dropped, too.
func TestContract_D24_ReleasedBeforeStart(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		f := newWidgetFactory(t, newWidgetServer(t))
		acquire(t, f, Scope{}).Release()
		require.Zero(t, held(f))
	})
}

// An informer released and acquired in quick succession is running in the end.
func TestContract_D20_AcquiredInHaste(t *testing.T) {
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

func TestContract_D20_BeforeStart(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		f := newWidgetFactory(t, server)
		kept, dropped := acquire(t, f, Scope{Namespaces: []string{"a"}}), acquire(t, f, Scope{Namespaces: []string{"b"}})
		dropped.Release()
		synctest.Wait()
		require.Zero(t, server.Counts()["watchlist"])
		begin(t, ctx, f)
		require.True(t, kept.Informer().Status().Synced)
		require.False(t, dropped.Informer().Status().Running)
		require.Equal(t, 1, server.Watches())
	})
}

// After the last release, a request makes an informer of its own, which the next Start begins.
func TestContract_D20_ForAfterRelease(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		f := newWidgetFactory(t, server)
		begin(t, ctx, f)
		acquire(t, f, Scope{}).Release()
		mine, err := f.ForResource(widgetResource)
		require.NoError(t, err)
		_, err = mine.Informer().AddEventHandler(noop)
		require.NoError(t, err)
		synctest.Wait()
		require.Zero(t, server.Watches())
		begin(t, ctx, f)
		require.True(t, mine.Informer().HasSynced())
	})
}

// An informer that is slow to stop, because of its transform, delays no caller of the factory.
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
		again := acquire(t, f, Scope{Namespaces: []string{"a"}})
		require.NotSame(t, l.Informer().Indexer(), again.Informer().Indexer())
		other := acquire(t, f, Scope{Namespaces: []string{"nowhere"}})
		require.NoError(t, other.Informer().WaitSynced(ctx))
		close(busy)
		require.NoError(t, again.Informer().WaitSynced(ctx))
		require.Equal(t, []string{"a/one"}, names(again.Informer()))
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
