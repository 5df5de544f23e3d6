package factory

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/informer"
)

// exitingFactory returns a factory whose transform ends its goroutine until it is healed, and the errors that
// utilruntime's handlers have got.
func exitingFactory(t *testing.T, ctx context.Context) (f *Factory, heal func(), reported func() []error) {
	reported = reportedErrors(t)
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
	return f, func() { exits = false }, reported
}

// D28: if a function ends the run of a requested informer, waits return. After another Start it is made anew.
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
		require.Len(t, reported(), 1)
		require.ErrorIs(t, reported()[0], informer.ErrExited)
		heal()
		f.StartWithContext(ctx)
		widgets, err = For[*widget](f)
		require.NoError(t, err)
		f.StartWithContext(ctx)
		require.NoError(t, f.WaitForCacheSyncWithContext(ctx).Err)
		require.Equal(t, 1, widgets.Indexer().Len())
	})
}

// D28: a lease's waits return, too. A new lease is of a new informer.
func TestContract_D28_ALeasedInformer(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		f, heal, _ := exitingFactory(t, ctx)
		l := acquire(t, f, Scope{})
		f.StartWithContext(ctx)
		synctest.Wait()
		require.ErrorIs(t, l.Informer().WaitFresh(ctx), informer.ErrExited)
		heal()
		require.NoError(t, acquire(t, f, Scope{}).Informer().WaitFresh(ctx))
	})
}
