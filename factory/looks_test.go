package factory

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/informer"
)

// looker is a logger that looks at a factory with each error, and counts the errors.
type looker struct {
	factory *Factory
	lines   *int
}

func (looker) Init(klog.RuntimeInfo)            {}
func (looker) Enabled(int) bool                 { return true }
func (looker) Info(int, string, ...any)         {}
func (l looker) WithValues(...any) klog.LogSink { return l }
func (l looker) WithName(string) klog.LogSink   { return l }
func (l looker) Error(error, string, ...any) {
	*l.lines++
	for h := range l.factory.Informers() {
		_ = h.Status
	}
	_, _ = For[*corev1.Node](l.factory)
}

// A logger may look at the factory: no line is written while the factory is locked.
func TestALoggerLooksAtTheFactory(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		f := NewSharedInformerFactory(fake.NewClientset(), 0)
		lines := 0
		logging := klog.NewContext(ctx, klog.New(looker{f, &lines}))
		require.NoError(t, Configure(f, informer.Options[*corev1.Pod]{PageSize: -1}))
		_, err := For[*corev1.Pod](f)
		require.NoError(t, err)
		f.StartWithContext(logging)
		synctest.Wait()
		require.Equal(t, 1, lines, "an informer that cannot run")
		pods, err := Acquire[*corev1.Pod](f, Scope{Namespaces: []string{"a"}})
		require.NoError(t, err)
		synctest.Wait()
		require.Equal(t, 2, lines)
		pods.Release()
		go func() { f.Shutdown() }()
		synctest.Wait()
		f.StartWithContext(logging)
		require.Equal(t, 3, lines, "a Start after Shutdown")
	})
}

// While a user's constructor makes an informer, the factory answers. Only callers that want the same
// type wait; if the constructor ends its goroutine, the next one is called.
func TestAConstructorMayTakeLong(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		f := newWidgetFactory(t, newWidgetServer(t))
		busy := make(chan struct{})
		calls := 0
		constructor := func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
			calls++
			<-busy
			if calls == 1 {
				runtime.Goexit()
			}
			return cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.Pod{}, 0, nil)
		}
		made := make(chan cache.SharedIndexInformer, 2)
		for range 2 {
			go func() { made <- f.InformerFor(&corev1.Pod{}, constructor) }()
		}
		synctest.Wait()
		require.Equal(t, 1, calls)
		for range f.Informers() {
			require.Fail(t, "it is not made yet")
		}
		require.ErrorIs(t, Configure(f, informer.Options[*corev1.Pod]{}), informer.ErrRunning)
		l := acquire(t, f, Scope{})
		f.StartWithContext(ctx)
		require.NoError(t, l.Informer().WaitFresh(ctx))
		l.Release()
		close(busy)
		require.NotNil(t, <-made)
		require.Equal(t, 2, calls)
		require.Same(t, f.InformerFor(&corev1.Pod{}, constructor), f.InformerFor(&corev1.Pod{}, constructor))
		require.Equal(t, 2, calls)
	})
}
