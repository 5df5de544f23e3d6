package factory

import (
	"context"
	"reflect"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// D24: an informer acquired again continues with a watch, and its handlers get the deletions made
// meanwhile. After it was dropped, or its version has expired, it lists.
func TestContract_D24_AcquiredAgain(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		for _, name := range []string{"one", "two"} {
			require.NoError(t, server.Create(ctx, newWidget("a", name, "red")))
		}
		f := newWidgetFactory(t, server)
		begin(t, ctx, f)
		var deleted []string
		var lost []bool
		again := func() (states int, release func()) {
			before := server.Counts()
			resume := server.Stall(informertest.Request{}) // what comes before the handler is not its
			l := acquire(t, f, Scope{})
			deleted, lost = nil, nil
			_, err := l.Informer().Handle(informer.HandlerFunc[*widget](func(c informer.Change[*widget]) {
				if c.Kind == informer.Deleted {
					deleted, lost = append(deleted, c.Old.Name), append(lost, c.Lost)
				}
			}), informer.HandlerOptions{})
			require.NoError(t, err)
			resume()
			require.NoError(t, l.WaitFresh(ctx))
			synctest.Wait()
			now := server.Counts()
			question := 1 // WaitFresh's
			return now.List + now.WatchList - before.List - before.WatchList - question, l.Release
		}
		states, release := again()
		require.Equal(t, 1, states)
		release()
		time.Sleep(time.Minute)
		require.NoError(t, server.Delete(ctx, newWidget("a", "one", "red")))
		states, release = again()
		require.Zero(t, states)
		require.Equal(t, []string{"one"}, deleted)
		require.Equal(t, []bool{false}, lost, "the watch tells how it was at the end")
		release()

		time.Sleep(time.Minute)
		require.NoError(t, server.Delete(ctx, newWidget("a", "two", "red")))
		server.Compact()
		states, release = again()
		require.Equal(t, 1, states)
		require.Equal(t, []string{"two"}, deleted)
		require.Equal(t, []bool{true}, lost)
		release()

		time.Sleep(time.Hour)
		states, release = again()
		require.Equal(t, 1, states, "it was dropped")
		release()
	})
}

// A restarted informer trusts none of its objects, nor its version.
func TestARestartIsNoWatchFromTheLastVersion(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		require.NoError(t, server.Create(ctx, newWidget("a", "one", "red")))
		f := newWidgetFactory(t, server)
		begin(t, ctx, f)
		l := acquire(t, f, Scope{})
		require.NoError(t, l.WaitFresh(ctx))
		before := server.Counts()
		require.NoError(t, RestartInformer[*widget](f, Scope{}))
		require.NoError(t, l.WaitFresh(ctx))
		now := server.Counts()
		require.Equal(t, 2, now.List+now.WatchList-before.List-before.WatchList, "the full state, and the question for the newest version")
		l.Release()
	})
}

// An informer that cannot run is dropped like others after its last use. If it is removed from
// the table earlier, no timer stays.
func TestWhatCannotRunIsForgotten(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		f := newWidgetFactory(t, newWidgetServer(t))
		begin(t, ctx, f)
		require.NoError(t, Configure(f, informer.Options[*widget]{PageSize: -1}))
		l := acquire(t, f, Scope{})
		require.ErrorIs(t, l.WaitFresh(ctx), informer.ErrNegative)
		l.Release()
		require.Equal(t, 1, held(f))
		time.Sleep(defaultRetention + time.Second)
		require.Zero(t, held(f))
	})
}

func TestWhatIsReplacedLeavesNoTimer(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		f := newWidgetFactory(t, newWidgetServer(t))
		short, end := context.WithCancel(ctx)
		f.StartWithContext(short)
		l := acquire(t, f, Scope{})
		e := entryOf(f)
		l.Release()
		end()
		synctest.Wait()
		require.NotNil(t, e.dropTimer)
		_, err := For[*widget](f)
		require.NoError(t, err)
		require.NotSame(t, e, entryOf(f), "it takes no handlers of client-go's API")
		require.Nil(t, e.dropTimer)
		f.Shutdown()
	})
}

// entryOf returns the only entry of a factory.
func entryOf(f *Factory) *entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.entries {
		return e
	}
	return nil
}

// A handler of client-go's API added between the two runs of a restart is accepted.
func TestAHandlerIsTakenDuringARestart(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		f := newWidgetFactory(t, newWidgetServer(t))
		begin(t, ctx, f)
		l := acquire(t, f, Scope{})
		require.NoError(t, l.WaitFresh(ctx))
		mine, err := For[*widget](f)
		require.NoError(t, err)
		shared := mine.Shared()
		_, err = f.beginStopOrRestart(reflect.TypeFor[*widget](), Scope{}, restartAsked)
		require.NoError(t, err)
		f.mu.Lock() // the next run cannot begin while mu is held
		for !shared.IsStopped() {
			runtime.Gosched()
		}
		added := make(chan error, 1)
		go func() {
			_, err := shared.AddEventHandler(cache.ResourceEventHandlerFuncs{})
			added <- err
		}()
		for range 1000 {
			runtime.Gosched()
		}
		f.mu.Unlock()
		require.NoError(t, <-added)
		l.Release()
	})
}
