package factory

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// With a clientset that is a nil pointer, each requested kind reports an error with its name, and
// the process goes on.
func TestAClientsetThatIsANilPointer(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		f := NewSharedInformerFactory((*kubernetes.Clientset)(nil), 0)
		pods, err := For[*corev1.Pod](f)
		require.NoError(t, err)
		f.Core().V1().Nodes().Informer()
		d := NewDynamicSharedInformerFactory((*dynamic.DynamicClient)(nil), 0)
		d.ForResource(widgetResource)
		m := NewMetadataSharedInformerFactory((*metadata.Client)(nil), 0)
		m.ForResource(widgetResource)
		f.StartWithContext(ctx)
		d.StartWithContext(ctx)
		m.StartWithContext(ctx)
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		err = pods.WaitSynced(short)
		require.ErrorIs(t, err, reflector.ErrPanic)
		require.ErrorContains(t, err, "list pods: ")
	})
}

// The same holds if a function given to Register panics. If it ends its goroutine, the run ends (D28); if it
// takes long, the informer reports and waits.
func TestASourceOfRegisterThatFails(t *testing.T) {
	for name, row := range map[string]struct {
		source func()
		told   error
	}{
		"panics":             {func() { panic("boom") }, reflector.ErrPanic},
		"ends its goroutine": {func() { runtime.Goexit() }, informer.ErrExited},
		"takes an hour":      {func() { time.Sleep(time.Hour) }, reflector.ErrSilent},
		"takes a moment":     {func() { time.Sleep(time.Second) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, ctx context.Context) {
				server := newWidgetServer(t)
				f := NewSharedInformerFactory(nil, 0)
				resource := widgetsOf(server)
				made := resource.Source
				resource.Source = func(namespace string) reflector.Source {
					row.source()
					return made(namespace)
				}
				require.NoError(t, Register[*widget](f, resource))
				widgets, err := For[*widget](f)
				require.NoError(t, err)
				f.StartWithContext(ctx)
				short, cancel := context.WithTimeout(ctx, time.Minute)
				defer cancel()
				err = widgets.WaitSynced(short)
				if row.told == nil {
					require.NoError(t, err)
					return
				}
				require.ErrorIs(t, err, row.told)
				require.ErrorContains(t, err, "widget")
				time.Sleep(2 * time.Hour) // give the functions time: the slowest takes an hour
			})
		})
	}
}

// WaitFor does not run a function given to Register on its caller's goroutine, and its wait ends with
// its context.
func TestWaitForOfASourceThatFails(t *testing.T) {
	long := errors.New("long enough")
	for name, row := range map[string]struct {
		source func()
		told   error
	}{
		"panics":             {func() { panic("boom") }, long},
		"ends its goroutine": {func() { runtime.Goexit() }, informer.ErrExited},
		"takes an hour":      {func() { time.Sleep(time.Hour) }, nil},
		"takes a moment":     {func() { time.Sleep(time.Second) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, ctx context.Context) {
				server := newWidgetServer(t)
				one := newWidget("a", "one", "red")
				require.NoError(t, server.Create(ctx, one))
				f := NewSharedInformerFactory(nil, 0)
				resource := widgetsOf(server)
				made := resource.Source
				resource.Source = func(namespace string) reflector.Source {
					row.source()
					return made(namespace)
				}
				require.NoError(t, Register[*widget](f, resource))
				widgets, err := For[*widget](f)
				require.NoError(t, err)
				for range 2 {
					began := time.Now()
					short, cancel := context.WithTimeoutCause(ctx, time.Minute, long)
					err = widgets.WaitFor(short, one)
					cancel()
					require.ErrorIs(t, err, long, "nothing runs")
					require.Equal(t, time.Minute, time.Since(began), "the function runs elsewhere")
				}
				time.Sleep(2 * time.Hour) // give the functions time: the slowest takes an hour
				f.StartWithContext(ctx)
				short, cancel := context.WithTimeoutCause(ctx, time.Minute, long)
				defer cancel()
				err = widgets.WaitFor(short, one)
				if row.told == nil {
					require.NoError(t, err)
					return
				}
				require.ErrorIs(t, err, row.told)
			})
		})
	}
}
