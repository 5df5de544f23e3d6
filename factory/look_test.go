package factory_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/factory/debug"
	"github.com/tidemark-k8s/tidemark/factory/readiness"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// looksAtFactory makes an onlooker look at all that a factory shows. An index function must not ask for
// lists: it is called in a write section, which lists wait for. A request for an informer waits for the
// end of a run that is being stopped, so only handlers may make one at any time.
func looksAtFactory(o *kit.Onlooker, f *factory.Factory) {
	probe, page := readiness.New(readiness.Options{}, f.Informers()), debug.New(debug.Options{}, f.Informers())
	o.At(func() {
		for held := range f.Informers() {
			held.Name()
			held.Inspector()
		}
	})
	o.At(func() { _ = probe.Check(new(http.Request)) })
	o.At(func() {
		over := make(chan struct{})
		close(over)
		f.WaitForCacheSync(over)
	})
	pods := f.Core().V1().Pods().Informer()
	o.At(func() { _, _, _ = pods.GetStore().GetByKey("default/a") })
	o.At(func() { pods.GetStore().List() }, "index function")
	o.At(func() { page.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)) }, "index function")

	whileRunning := []string{"observer", "transform", "index function", "watch error handler", "transport", "logger"}
	o.At(func() { _, _ = factory.For[*corev1.Pod](f) }, whileRunning...)
	o.At(func() { _, _ = f.Core().V1().Pods().Lister().Pods("default").Get("a") }, whileRunning...)
	o.At(func() { lease(f) }, whileRunning...)
}

// lease acquires an informer and releases it, unless the factory has been shut down.
func lease(f *factory.Factory) {
	if l, err := factory.Acquire[*corev1.Pod](f, factory.Scope{}); err == nil {
		l.Informer().Status()
		l.Release()
	}
}

// A program may look at a factory from within each callback of the factory's informers: nothing of a
// user's is called under the factory's lock.
func TestAProgramThatLooksAtTheFactory(t *testing.T) {
	kit.EndsSoon(t)
	synctest.Test(t, func(t *testing.T) {
		server := informertest.New(informertest.Options{})
		defer server.Close()
		require.NoError(t, server.StartInMemory())
		require.NoError(t, server.Create(t.Context(), limited("a", "100m")))
		o := &kit.Onlooker{}
		config := server.ClientConfig()
		config.Wrap(o.Transport)
		client, err := kubernetes.NewForConfig(config)
		require.NoError(t, err)
		f := factory.NewSharedInformerFactory(client, 0)
		require.NoError(t, factory.Configure(f, informer.Options[*corev1.Pod]{
			Observe:   func(informer.Event) { o.Look("observer") },
			Transform: func(p *corev1.Pod) (*corev1.Pod, error) { o.Look("transform"); return p, nil },
			Indexes: []indexer.Index[*corev1.Pod]{{Name: "looking", Append: func(values []string, p *corev1.Pod) []string {
				o.Look("index function")
				return append(values, p.Name)
			}}},
		}))
		looksAtFactory(o, f)
		pods := f.Core().V1().Pods().Informer()
		_, err = pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { o.Look("handler") },
			UpdateFunc: func(any, any) { o.Look("handler") },
			DeleteFunc: func(any) { o.Look("handler") },
		})
		require.NoError(t, err)
		require.NoError(t, pods.SetWatchErrorHandler(func(*cache.Reflector, error) { o.Look("watch error handler") }))
		_, err = f.Core().V1().Nodes().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{}) // which logs
		require.NoError(t, err)
		for _, name := range []string{"b", "c"} {
			ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), o.Logger()))
			f.StartWithContext(ctx)
			synctest.Wait()
			lease, err := factory.Acquire[*corev1.Pod](f, factory.Scope{Namespaces: []string{"default"}})
			require.NoError(t, err)
			require.NoError(t, lease.Informer().WaitSynced(ctx))
			require.NoError(t, server.Create(ctx, limited(name, "100m")))
			allow := server.Forbid(informertest.Request{Verb: "watch"})
			server.CutWatches()
			time.Sleep(time.Minute)
			allow()
			time.Sleep(time.Minute)
			require.NoError(t, server.Delete(ctx, limited(name, "100m")))
			time.Sleep(time.Minute)
			lease.Release()
			cancel()
			synctest.Wait()
		}
		f.Shutdown()
		for _, callback := range []string{"observer", "transform", "index function", "handler", "watch error handler", "transport", "logger"} {
			require.NotZero(t, o.Looked()[callback], callback)
		}
	})
}
