package factory

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// exitingFactory returns a factory whose transform ends its goroutine until it is healed, and the errors that
// utilruntime's handlers have got.
func exitingFactory(t *testing.T, ctx context.Context) (f *Factory, heal func(), reported *[]error) {
	var errs []error
	handlers := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{func(_ context.Context, err error, _ string, _ ...any) { //nolint:reassign // it is there to be set
		errs = append(errs, err)
	}}
	t.Cleanup(func() { utilruntime.ErrorHandlers = handlers }) //nolint:reassign // as above
	server := newWidgetServer(t)
	require.NoError(t, server.Create(ctx, newWidget("a", "one", "red")))
	f = newWidgetFactory(t, server)
	exits := true
	require.NoError(t, Configure(f, informer.Options[*widget]{Transform: func(w *widget) (*widget, error) {
		if exits {
			runtime.Goexit()
		}
		return w, nil
	}}))
	return f, func() { exits = false }, &errs
}

// D28: if a function ends the run of a pinned informer, waits return, and the next Start begins it again.
func TestContract_D28_APinnedInformer(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		f, heal, reported := exitingFactory(t, ctx)
		widgets, err := For[*widget](f)
		require.NoError(t, err)
		f.StartWithContext(ctx)
		result := f.WaitForCacheSyncWithContext(ctx)
		require.ErrorIs(t, result.Err, informer.ErrExited)
		require.Len(t, result.Synced, 1)
		require.ErrorIs(t, widgets.WaitSynced(ctx), informer.ErrExited)
		synctest.Wait()
		require.Len(t, *reported, 1)
		require.ErrorIs(t, (*reported)[0], informer.ErrExited)
		_, err = For[*widget](f)
		require.NoError(t, err)
		synctest.Wait()
		require.True(t, widgets.Status().Stopped, "nobody has asked for another run")
		heal()
		f.StartWithContext(ctx)
		require.NoError(t, f.WaitForCacheSyncWithContext(ctx).Err)
		require.Equal(t, 1, widgets.Indexer().Len())
	})
}

// D28: a lease's waits return, too. A new lease, or the next Start, begins the informer again.
func TestContract_D28_ALeasedInformer(t *testing.T) {
	for _, how := range []string{"another lease", "another Start"} {
		bubble(t, func(t *testing.T, ctx context.Context) {
			f, heal, _ := exitingFactory(t, ctx)
			l := acquire(t, f, Scope{})
			f.StartWithContext(ctx)
			synctest.Wait()
			require.ErrorIs(t, l.WaitFresh(ctx), informer.ErrExited)
			heal()
			if how == "another lease" {
				acquire(t, f, Scope{})
			} else {
				f.StartWithContext(ctx)
			}
			require.NoError(t, l.WaitFresh(ctx))
		})
	}
}

// D28: StopInformer and RestartInformer take an informer whose run has exited.
func TestContract_D28_ARestartedInformer(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		f, heal, _ := exitingFactory(t, ctx)
		widgets, err := For[*widget](f)
		require.NoError(t, err)
		f.StartWithContext(ctx)
		synctest.Wait()
		heal()
		require.NoError(t, RestartInformer[*widget](f, Scope{}))
		require.NoError(t, widgets.WaitFresh(ctx))
	})
}

// Who waits for the sync during a restart is told if the next run exits.
func TestContract_D28_AWaitDuringARestart(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		server := newWidgetServer(t)
		require.NoError(t, server.Create(ctx, newWidget("a", "one", "red")))
		f := newWidgetFactory(t, server)
		require.NoError(t, Configure(f, informer.Options[*widget]{Transform: func(w *widget) (*widget, error) {
			runtime.Goexit()
			return w, nil
		}}))
		_, err := For[*widget](f)
		require.NoError(t, err)
		resume := server.Stall(informertest.Request{})
		f.StartWithContext(ctx)
		told := make(chan error, 1)
		go func() { told <- f.WaitForCacheSyncWithContext(ctx).Err }()
		synctest.Wait()
		require.NoError(t, RestartInformer[*widget](f, Scope{}))
		synctest.Wait()
		require.Empty(t, told)
		resume()
		require.ErrorIs(t, <-told, informer.ErrExited)
	})
}
