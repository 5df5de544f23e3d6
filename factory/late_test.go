package factory

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// Without a client, a test fills the stores of a factory by hand. An informer that is started ends at once, and so do its
// waits. One line reports it.
func TestRunsWithoutAClient(t *testing.T) {
	for name, clients := range map[string]struct {
		typed       kubernetes.Interface
		dynamically dynamic.Interface
		partially   metadata.Interface
	}{
		"nil":           {},
		"a nil pointer": {(*kubernetes.Clientset)(nil), (*dynamic.DynamicClient)(nil), (*metadata.Client)(nil)},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, ctx context.Context) {
				reported := reportedErrors(t)
				f := NewSharedInformerFactory(clients.typed, 0)
				pods, err := For[*corev1.Pod](f)
				require.NoError(t, err)
				require.NoError(t, pods.Shared().GetStore().Add(newPod("prod", "web")))
				others := []untyped{NewDynamicSharedInformerFactory(clients.dynamically, 0), NewMetadataSharedInformerFactory(clients.partially, 0)}
				for _, f := range others {
					_, err := f.ForResource(podResource).Informer().AddEventHandler(noop)
					require.NoError(t, err)
				}
				f.StartWithContext(ctx)
				for _, f := range others {
					f.StartWithContext(ctx)
				}
				for wait, err := range map[string]error{
					"WaitForCacheSync": f.WaitForCacheSyncWithContext(ctx).Err,
					"WaitSynced":       pods.WaitSynced(ctx),
					"WaitFor":          pods.WaitFor(ctx, newPod("prod", "other")),
					"WaitFresh":        pods.WaitFresh(ctx),
					"WaitDelivered":    pods.WaitDelivered(ctx, "1"),
				} {
					require.ErrorIs(t, err, informer.ErrNoSource, wait)
				}
				synctest.Wait()
				require.Len(t, reported(), 3)
				for _, err := range reported() {
					require.ErrorIs(t, err, informer.ErrNoSource)
					require.NotContains(t, err.Error(), "\n")
				}
				_, err = f.Core().V1().Pods().Lister().Pods("prod").Get("web")
				require.NoError(t, err)
			})
		})
	}
}

var errNotMade = errors.New("on purpose")

// fails are the ways in which a function given to Register fails.
var fails = map[string]struct {
	source   func() error
	recorded error // by the informer's waits
}{
	"fails":              {func() error { return errNotMade }, errNotMade},
	"panics":             {func() error { panic("boom") }, reflector.ErrPanic},
	"ends its goroutine": {func() error { runtime.Goexit(); return nil }, informer.ErrExited},
	"takes an hour":      {func() error { time.Sleep(time.Hour); return nil }, context.DeadlineExceeded},
	"takes a moment":     {func() error { time.Sleep(time.Second); return nil }, nil},
}

// A function given to Register is called once, when an informer of the type runs. If it fails, the run ends; if it takes
// long, the informer waits.
func TestASourceOfRegisterThatFails(t *testing.T) {
	for name, row := range fails {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, ctx context.Context) {
				reported := reportedErrors(t)
				f, _, calls := lateFactory(t, ctx, row.source)
				widgets, err := For[*widget](f)
				require.NoError(t, err)
				f.StartWithContext(ctx)
				short, cancel := context.WithTimeout(ctx, time.Minute)
				defer cancel()
				err = widgets.WaitSynced(short)
				require.ErrorIs(t, err, row.recorded)
				ends := row.recorded != nil && short.Err() == nil
				if row.recorded != nil {
					require.ErrorContains(t, err, "widget")
				}
				time.Sleep(2 * time.Hour) // until the slowest function has returned
				synctest.Wait()
				require.Equal(t, 1, *calls)
				require.Equal(t, ends, len(reported()) == 1)
				require.Equal(t, ends, widgets.Shared().IsStopped())
			})
		})
	}
}

// WaitFor does not call a function given to Register, and its wait ends with its context.
func TestWaitForOfASourceThatFails(t *testing.T) {
	for name, row := range fails {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, ctx context.Context) {
				_ = reportedErrors(t)
				f, one, calls := lateFactory(t, ctx, row.source)
				widgets, err := For[*widget](f)
				require.NoError(t, err)
				wait := func() error {
					short, cancel := context.WithTimeout(ctx, time.Minute)
					defer cancel()
					return widgets.WaitFor(short, one)
				}
				require.ErrorIs(t, wait(), context.DeadlineExceeded, "nothing runs")
				require.Zero(t, *calls)
				f.StartWithContext(ctx)
				require.ErrorIs(t, wait(), row.recorded)
				time.Sleep(2 * time.Hour) // until the slowest function has returned
			})
		})
	}
}

// lateFactory returns a factory of the widgets of a server, and the server's one widget. A function is called before
// their source is made, and these calls are counted.
func lateFactory(t *testing.T, ctx context.Context, before func() error) (f *Factory, one *widget, calls *int) {
	t.Helper()
	server := newWidgetServer(t)
	one = newWidget("a", "one", "red")
	require.NoError(t, server.Create(ctx, one))
	resource, calls := widgetsOf(server), new(int)
	made := resource.Source
	resource.Source = func(namespace string) (reflector.Source, error) {
		*calls++
		if err := before(); err != nil {
			return reflector.Source{}, err
		}
		return made(namespace)
	}
	f = NewSharedInformerFactory(nil, 0)
	require.NoError(t, Register[*widget](f, resource))
	return f, one, calls
}
