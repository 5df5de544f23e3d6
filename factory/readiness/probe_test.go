package readiness

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// cluster is a server in memory and a factory of its pods and secrets, started.
type cluster struct {
	*informertest.Server
	factory *factory.Factory
}

func newCluster(t *testing.T, prepare func(cluster)) cluster {
	t.Helper()
	server := informertest.New(informertest.Options{})
	require.NoError(t, server.StartInMemory())
	t.Cleanup(server.Close)
	client, err := kubernetes.NewForConfig(server.ClientConfig())
	require.NoError(t, err)
	c := cluster{server, factory.NewSharedInformerFactory(client, 0)}
	require.NoError(t, server.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}))
	c.factory.Core().V1().Pods().Informer()
	c.factory.Core().V1().Secrets().Informer()
	if prepare != nil {
		prepare(c)
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.factory.StartWithContext(ctx)
	t.Cleanup(func() {
		cancel()
		c.factory.Shutdown()
	})
	synctest.Wait()
	return c
}

// newClusterWithLease returns a cluster that forbids reading a resource in the namespace shop, and whose factory
// has a lease of it.
func newClusterWithLease[T informer.Object](t *testing.T, resource string, scope factory.Scope) cluster {
	t.Helper()
	c := newCluster(t, func(c cluster) { c.Forbid(informertest.Request{Resource: resource, Namespace: "shop"}) })
	lease, err := factory.Acquire[T](c.factory, scope)
	require.NoError(t, err)
	t.Cleanup(lease.Release)
	synctest.Wait()
	return c
}

func ask(p http.Handler, url string) (status int, text string) {
	w := httptest.NewRecorder()
	p.ServeHTTP(w, httptest.NewRequest(http.MethodGet, url, nil))
	body, _ := io.ReadAll(w.Body)
	return w.Code, string(body)
}

func TestReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{}, newCluster(t, nil).factory.Informers())
		require.NoError(t, p.Check(nil))
		status, text := ask(p, "/readyz")
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, "ready\n", text)
		_, text = ask(p, "/readyz?verbose")
		require.Equal(t, "[+] pods ok: 1 object\n[+] secrets ok: 0 objects\nready\n", text)
	})
}

// An informer that never synced is not ready, and its line has the reason.
func TestNeverSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{}, newCluster(t, func(c cluster) { c.Forbid(informertest.Request{Resource: "secrets"}) }).factory.Informers())
		require.ErrorContains(t, p.Check(nil), "the informers are not ready: ")
		require.ErrorContains(t, p.Check(nil), "secrets not synced: ")
		require.ErrorContains(t, p.Check(nil), "403")
		status, text := ask(p, "/readyz")
		require.Equal(t, http.StatusServiceUnavailable, status)
		require.Regexp(t, `^\[-\] secrets not synced: The server does not allow it \(403\)\.\nnot ready\n$`, text)
	})
}

// The name of a Secret is shown neither in a field selector nor in an error.
func TestNamesOfSecretsAreHidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClusterWithLease[*corev1.Secret](t, "secrets", factory.Scope{Namespaces: []string{"shop"}, Fields: "metadata.name=top-secret"})
		for _, query := range []string{"", "?verbose"} {
			_, text := ask(New(Options{}, c.factory.Informers()), "/readyz"+query)
			require.Contains(t, text, "secrets in shop with some fields (hidden)")
			require.NotContains(t, text, "top-secret")
		}
	})
}

// Each problem has one line, even if a selector has several.
func TestASelectorOfSeveralLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClusterWithLease[*corev1.Pod](t, "pods", factory.Scope{Namespaces: []string{"shop"}, Labels: "app in (\n  web,\n  db\n)\n"})
		_, text := ask(New(Options{}, c.factory.Informers()), "/readyz")
		require.Regexp(t, `^\[-\] pods in shop .*app in \( web, db \).* not synced: .*forbidden.*\nnot ready\n$`, text)
	})
}

// A parked informer is reported, and fails the probe only if FailOn names the condition.
func TestFailOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, nil)
		c.Forbid(informertest.Request{Resource: "pods"})
		c.CutWatches()
		synctest.Wait()
		recorded := New(Options{}, c.factory.Informers())
		require.NoError(t, recorded.Check(nil))
		status, text := ask(recorded, "/readyz")
		require.Equal(t, http.StatusOK, status)
		require.Regexp(t, `^\[\+\] pods parked: .*forbidden.*\nready\n$`, text)

		failing := New(Options{FailOn: []Condition{Parked}}, c.factory.Informers())
		require.ErrorContains(t, failing.Check(nil), "pods parked: ")
		status, text = ask(failing, "/readyz")
		require.Equal(t, http.StatusServiceUnavailable, status)
		require.Regexp(t, `^\[-\] pods parked: .*\nnot ready\n$`, text)
	})
}

// An index function that does not return holds up the informer, and no probe.
func TestAnswersBesideAStuckIndexFunction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		c := newCluster(t, func(c cluster) {
			require.NoError(t, c.factory.Core().V1().Pods().Informer().AddIndexers(cache.Indexers{"stuck": func(any) ([]string, error) {
				<-stuck
				return nil, nil
			}}))
		})
		defer close(stuck)
		status, text := ask(New(Options{}, c.factory.Informers()), "/readyz")
		require.Equal(t, http.StatusServiceUnavailable, status)
		require.Regexp(t, `^\[-\] pods not synced: \d objects? so far\nnot ready\n$`, text)
	})
}

// An unused informer, which its factory keeps for a while, does not fail the probe.
func TestWhoIsAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, func(c cluster) { c.Forbid(informertest.Request{Resource: "pods", Namespace: "shop"}) })
		lease, err := factory.Acquire[*corev1.Pod](c.factory, factory.Scope{Namespaces: []string{"shop"}, Labels: "app=web"})
		require.NoError(t, err)
		p := New(Options{}, c.factory.Informers())
		require.ErrorContains(t, p.Check(nil), "pods in shop with app=web not synced: ")
		lease.Release()
		require.NoError(t, p.Check(nil))
	})
}

func TestAlone(t *testing.T) {
	server := informertest.New(informertest.Options{})
	defer server.Close()
	pods := informer.New(server.Source(corev1.SchemeGroupVersion.WithResource("pods"), ""), informer.Options[*corev1.Pod]{})
	require.EqualError(t, New(Options{}, factory.Alone(corev1.SchemeGroupVersion.WithResource("pods"), factory.Scope{}, pods.Shared())).Check(nil), "the informers are not ready: pods not synced: it has not been started")
}

func TestOnlyGet(t *testing.T) {
	w := httptest.NewRecorder()
	New(Options{}).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/readyz", nil))
	require.Equal(t, http.StatusMethodNotAllowed, w.Code)
	require.Equal(t, "GET, HEAD", w.Header().Get("Allow"))
}
