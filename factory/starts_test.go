package factory

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
)

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
// run as in a user's run, with that of the user, which waits.
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
		one := count() - idle
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
		require.LessOrEqual(t, count()-idle, one+1, "one more watches the channel of Start, as of Run")
		second := acquire(t, f, Scope{Namespaces: []string{"b"}})
		require.LessOrEqual(t, count()-idle, 2*(one+1))
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
		one = count() - idle
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

// An informer of another module that its user runs belongs to the user.
func TestForeignInformerRunByHand(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		f := newWidgetFactory(t, server)
		constructed := 0
		request := func() cache.SharedIndexInformer {
			return f.InformerFor(&widget{}, func(_ kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
				return widgets{nil, &constructed}.defaultInformer(&widgetClient{server}, resync)
			})
		}
		theirs := request()
		go theirs.Run(ctx.Done())
		synctest.Wait()
		begin(t, ctx, f)
		begin(t, ctx, f)
		require.Same(t, theirs, request(), "it has not stopped")
		require.True(t, f.WaitForCacheSync(ctx.Done())[widgetType])
		require.Equal(t, 1, server.Watches())
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
		require.Len(t, f.starts, 3)
		close(stop)
		synctest.Wait()
		require.True(t, l.Informer().Status().Running)
		l.Release()
		f.StartWithContext(ctx)
		require.Len(t, f.starts, 2)
	})
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
			end()
			synctest.Wait()
			require.Zero(t, server.Watches())
		})
	}
}
