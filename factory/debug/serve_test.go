package debug

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/indexer/refs"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

func ask(p http.Handler, method, host, target string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(method, target, nil)
	r.Host = host
	p.ServeHTTP(w, r)
	return w
}

func get(p http.Handler, target string) *httptest.ResponseRecorder {
	return ask(p, http.MethodGet, "localhost:6060", target)
}

// unstarted returns a factory whose informers have not been started.
func unstarted() *factory.Factory {
	f := factory.NewSharedInformerFactory(fake.NewClientset(), 0)
	f.Core().V1().Pods().Informer()
	f.Core().V1().Secrets().Informer()
	return f
}

func TestOverviewAndOne(t *testing.T) {
	p := New(Options{}, unstarted().Informers())
	w := get(p, "/debug/informers")
	require.Equal(t, http.StatusOK, w.Code)
	require.Equal(t, "text/html; charset=utf-8", w.Header().Get("Content-Type"))
	require.Equal(t, policy, w.Header().Get("Content-Security-Policy"))
	r := p.all()
	require.Len(t, r.Informers, 2)
	for _, i := range r.Informers {
		require.Contains(t, w.Body.String(), `href="?informer=`+i.ID+`"`)
		one := get(p, "/debug/informers?informer="+url.QueryEscape(i.ID))
		require.Equal(t, http.StatusOK, one.Code)
		require.Contains(t, one.Body.String(), "<h1>"+i.Name+"</h1>")
	}
	// The next run of the program has the same ids.
	require.Equal(t, r.Informers[0].ID, New(Options{}, unstarted().Informers()).all().Informers[0].ID)
	require.Equal(t, http.StatusNotFound, get(p, "/?informer=other").Code)
}

func TestJSON(t *testing.T) {
	p := New(Options{}, unstarted().Informers())
	all, one := get(p, "/?format=json"), get(p, "/?format=json&informer="+p.all().Informers[0].ID)
	var r report
	require.NoError(t, json.Unmarshal(all.Body.Bytes(), &r))
	require.Equal(t, p.all().Informers, r.Informers)
	require.NoError(t, json.Unmarshal(one.Body.Bytes(), &r))
	require.Len(t, r.Informers, 1)
	require.NotNil(t, r.Informers[0].Details)
	require.Equal(t, "application/json", one.Header().Get("Content-Type"))
}

func TestMethodsAndFormats(t *testing.T) {
	p := New(Options{}, unstarted().Informers())
	for _, method := range []string{http.MethodPost, http.MethodDelete, http.MethodOptions, "PROPFIND"} {
		w := ask(p, method, "localhost", "/")
		require.Equal(t, http.StatusMethodNotAllowed, w.Code)
		require.Equal(t, "GET, HEAD", w.Header().Get("Allow"))
	}
	w := ask(p, http.MethodHead, "localhost", "/")
	require.Equal(t, http.StatusOK, w.Code)
	require.Zero(t, w.Body.Len())
	require.Equal(t, http.StatusBadRequest, get(p, "/?format=xml").Code)
}

func TestHosts(t *testing.T) {
	p := New(Options{Hosts: []string{"debug.example.com"}})
	for host, want := range map[string]int{
		"localhost": 200, "LOCALHOST:6060": 200, "localhost.": 200, "127.0.0.1:80": 200, "10.1.2.3": 200, "[::1]:6060": 200, "[::1]": 200,
		"debug.example.com:443": 200, "Debug.Example.Com.": 200,
		"evil.example.com": 403, "localhost.evil.com": 403, "127.0.0.1.evil.com": 403, "evil.com:127.0.0.1": 403, "": 403, ".": 403, ":6060": 403, "127.1": 403,
	} {
		require.Equal(t, want, ask(p, http.MethodGet, host, "/").Code, host)
		require.Equal(t, http.StatusOK, ask(New(Options{AnyHost: true}), http.MethodGet, host, "/").Code, host)
	}
}

// Two informers of the same scope have different ids, and an informer of an unknown kind is treated
// as one of Secrets.
func TestSubjects(t *testing.T) {
	f := unstarted()
	alone := factory.Alone(schema.GroupVersionResource{}, factory.Scope{Fields: "metadata.name=top-secret"}, cache.NewSharedIndexInformer(nil, &corev1.Pod{}, 0, nil))
	once, again := f.Informers(), f.Informers()
	r := New(Options{}, once, again, alone).all()
	require.Len(t, r.Informers, 5)
	ids := map[string]bool{}
	for _, i := range r.Informers {
		ids[i.ID] = true
	}
	require.Len(t, ids, 5)
	require.Equal(t, " with some fields (hidden)", r.Informers[4].Name)
}

// The page answers while an index function is stuck.
func TestAStuckIndexFunction(t *testing.T) {
	server := informertest.New(informertest.Options{})
	require.NoError(t, server.StartInMemory())
	defer server.Close()
	client, err := kubernetes.NewForConfig(server.ClientConfig())
	require.NoError(t, err)
	require.NoError(t, server.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}))
	f := factory.NewSharedInformerFactory(client, 0)
	entered, leave := make(chan struct{}), make(chan struct{})
	var once sync.Once
	require.NoError(t, f.Core().V1().Pods().Informer().AddIndexers(cache.Indexers{"stuck": func(any) ([]string, error) {
		once.Do(func() { close(entered) })
		<-leave
		return nil, nil
	}}))
	p := New(Options{}, f.Informers())
	ctx, cancel := context.WithCancel(context.Background())
	f.StartWithContext(ctx)
	defer func() {
		close(leave)
		cancel()
		f.Shutdown()
	}()
	<-entered
	id := p.all().Informers[0].ID
	answered := make(chan int)
	go func() {
		defer close(answered)
		for _, target := range []string{"/", "/?informer=" + id, "/?format=json"} {
			answered <- get(p, target).Code
		}
	}()
	for range 3 {
		select {
		case code := <-answered:
			require.Equal(t, http.StatusOK, code)
		case <-time.After(10 * time.Second):
			require.Fail(t, "the page waits")
		}
	}
	<-answered
}

// What objects refer to are values of an index: no page has them, but for their number.
func TestNoPageShowsWhatObjectsReferTo(t *testing.T) {
	server := informertest.New(informertest.Options{})
	require.NoError(t, server.StartInMemory())
	defer server.Close()
	client, err := kubernetes.NewForConfig(server.ClientConfig())
	require.NoError(t, err)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	pod.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "top-secret"}}
	require.NoError(t, server.Create(t.Context(), pod))
	f := factory.NewSharedInformerFactoryWithOptions(client, 0, factory.WithIndexes(refs.ByReference[any]()))
	pods, err := factory.For[*corev1.Pod](f)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer f.Shutdown()
	defer cancel()
	f.StartWithContext(ctx)
	require.NoError(t, pods.WaitSynced(ctx))
	keys, err := pods.Indexer().FindKeys(refs.ReferringTo(refs.Ref{Kind: "Secret", Namespace: "shop", Name: "top-secret"}))
	require.NoError(t, err)
	require.Len(t, keys, 1)

	p := New(Options{}, f.Informers())
	id := url.QueryEscape(p.all().Informers[0].ID)
	for _, target := range []string{"/", "/?format=json", "/?informer=" + id, "/?format=json&informer=" + id} {
		body := get(p, target).Body.String()
		require.NotContains(t, body, "top-secret", target)
		require.Equal(t, strings.Contains(target, "informer="), strings.Contains(body, refs.ReferenceIndex), target)
	}
}

// The page of many informers is small enough for a refresh every few seconds.
func TestSixtyInformers(t *testing.T) {
	var all []shownInformer
	for n := range 60 {
		s := healthy()
		s.of.id = fmt.Sprintf("kind-%d", n)
		all = append(all, s.view())
	}
	require.Less(t, len(rendered(t, false, all...)), 3_000_000)
}

func BenchmarkSixtyInformers(b *testing.B) {
	var informers []iter.Seq[factory.Held]
	for range 30 {
		informers = append(informers, unstarted().Informers())
	}
	p := New(Options{}, informers...)
	for b.Loop() {
		get(p, "/")
	}
}

// Any query gets one of the intended answers, and nothing of the query is returned as markup.
func FuzzQuery(f *testing.F) {
	p := New(Options{}, unstarted().Informers())
	for _, s := range []string{"", "informer=", "informer=x&format=json", "format=<script>", "informer=%00;%zz", "informer=pods.v1&informer=y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, query string) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host, r.URL.RawQuery = "localhost", query
		w := httptest.NewRecorder()
		p.ServeHTTP(w, r)
		require.Contains(t, []int{http.StatusOK, http.StatusBadRequest, http.StatusNotFound}, w.Code)
		require.LessOrEqual(t, strings.Count(w.Body.String(), "<script>"), 1)
	})
}
