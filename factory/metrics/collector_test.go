package metrics

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// cluster is a server in memory with some pods, and a factory.
func cluster(t testing.TB, pods int) *factory.Factory {
	t.Helper()
	server := informertest.New(informertest.Options{})
	require.NoError(t, server.StartInMemory())
	t.Cleanup(server.Close)
	for n := range pods {
		require.NoError(t, server.Create(context.Background(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint("web-", n)}}))
	}
	client, err := kubernetes.NewForConfig(server.ClientConfig())
	require.NoError(t, err)
	f := factory.NewSharedInformerFactory(client, 0)
	ctx, cancel := context.WithCancel(context.Background())
	f.StartWithContext(ctx)
	t.Cleanup(func() {
		cancel()
		f.Shutdown()
	})
	return f
}

// lease acquires the pods of a scope, synced.
func lease(t testing.TB, f *factory.Factory, s factory.Scope) *factory.Lease[*corev1.Pod] {
	t.Helper()
	l, err := factory.Acquire[*corev1.Pod](f, s)
	require.NoError(t, err)
	require.NoError(t, l.Informer().WaitSynced(context.Background()))
	return l
}

func TestCollector(t *testing.T) {
	f := cluster(t, 3)
	l := lease(t, f, factory.Scope{Namespaces: []string{"shop"}})
	_, err := l.Informer().Handle(informer.HandlerFunc[*corev1.Pod](func(informer.Change[*corev1.Pod]) {}), informer.HandlerOptions{Name: "mine"})
	require.NoError(t, err)
	require.NoError(t, l.Informer().WaitDelivered(t.Context(), l.Informer().Status().Version))
	require.NoError(t, testutil.CollectAndCompare(New(f.Informers()), strings.NewReader(`
# HELP tidemark_informer_handler_backlog_events Events waiting for the handler.
# TYPE tidemark_informer_handler_backlog_events gauge
tidemark_informer_handler_backlog_events{group="",handler="mine",resource="pods",scope="in shop",version="v1"} 0
# HELP tidemark_informer_objects Objects in the store.
# TYPE tidemark_informer_objects gauge
tidemark_informer_objects{group="",resource="pods",scope="in shop",version="v1"} 3
# HELP tidemark_informer_synced 1 once the store has been synced.
# TYPE tidemark_informer_synced gauge
tidemark_informer_synced{group="",resource="pods",scope="in shop",version="v1"} 1
`), prefix+"handler_backlog_events", prefix+"objects", prefix+"synced"))
	l.Release()
	require.Zero(t, testutil.CollectAndCount(New(f.Informers())), "an unused informer")
}

// No label has the name of a Secret, which a field selector may hold.
func TestNamesOfSecretsAreNoLabels(t *testing.T) {
	secrets := corev1.SchemeGroupVersion.WithResource("secrets")
	foreign := cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.Secret{}, 0, nil)
	scope := factory.Scope{Namespaces: []string{"shop"}, Fields: "metadata.name=top-secret"}
	require.NoError(t, testutil.CollectAndCompare(New(factory.Alone(secrets, scope, foreign)), strings.NewReader(`
# HELP tidemark_informer_synced 1 once the store has been synced.
# TYPE tidemark_informer_synced gauge
tidemark_informer_synced{group="",resource="secrets",scope="in shop with some fields (hidden)",version="v1"} 0
`), prefix+"synced"))
}

// An informer of another module has the figures it can know, such as synced.
func TestAnotherModulesInformer(t *testing.T) {
	foreign := cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.Pod{}, 0, nil)
	require.NoError(t, testutil.CollectAndCompare(New(factory.Alone(pods, factory.Scope{}, foreign)), strings.NewReader(`
# HELP tidemark_informer_synced 1 once the store has been synced.
# TYPE tidemark_informer_synced gauge
tidemark_informer_synced{group="",resource="pods",scope="",version="v1"} 0
`), prefix+"synced"))
}

// Scrapes run while informers come and go.
func TestScrapesOfInformersThatComeAndGo(t *testing.T) {
	f := cluster(t, 1)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(New(f.Informers()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := range 20 {
			l := lease(t, f, factory.Scope{Labels: fmt.Sprint("app=", n%5)})
			_, err := l.Informer().Handle(informer.HandlerFunc[*corev1.Pod](func(informer.Change[*corev1.Pod]) {}), informer.HandlerOptions{})
			if err != nil {
				t.Error(err)
			}
			l.Release()
		}
	}()
	for {
		_, err := registry.Gather()
		require.NoError(t, err)
		select {
		case <-done:
			return
		default:
		}
	}
}

// A scrape does not wait for an index function that is stuck.
func TestAStuckIndexFunction(t *testing.T) {
	f := cluster(t, 1)
	stuck := make(chan struct{})
	defer close(stuck)
	require.NoError(t, f.Core().V1().Pods().Informer().AddIndexers(cache.Indexers{"stuck": func(any) ([]string, error) {
		<-stuck
		return nil, nil
	}}))
	f.StartWithContext(t.Context())
	require.NotZero(t, testutil.CollectAndCount(New(f.Informers())))
}

// BenchmarkScrape scrapes 60 informers with 10 handlers each, directly and through the HTTP handler.
func BenchmarkScrape(b *testing.B) {
	f := cluster(b, 10)
	for n := range 60 {
		l := lease(b, f, factory.Scope{Labels: fmt.Sprint("app=", n)})
		for h := range 10 {
			_, err := l.Informer().Handle(informer.HandlerFunc[*corev1.Pod](func(informer.Change[*corev1.Pod]) {}), informer.HandlerOptions{Name: fmt.Sprint("handler-", h)})
			require.NoError(b, err)
		}
	}
	collector := New(distinct(f))
	b.Run("collect", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			b.ReportMetric(float64(testutil.CollectAndCount(collector)), "series")
		}
	})
	b.Run("http", func(b *testing.B) {
		registry := prometheus.NewRegistry()
		registry.MustRegister(collector)
		handler := promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
		b.ReportAllocs()
		for b.Loop() {
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
			n, _ := io.Copy(io.Discard, w.Body)
			b.ReportMetric(float64(n), "B/scrape")
		}
	})
}

// distinct gives each informer of a factory a kind of its own. Scopes of one kind would be merged
// beyond maxScopes.
func distinct(f *factory.Factory) func(yield func(factory.Held) bool) {
	return func(yield func(factory.Held) bool) {
		n := 0
		for h := range f.Informers() {
			h.Resource.Resource += fmt.Sprint(n)
			if n++; !yield(h) {
				return
			}
		}
	}
}
