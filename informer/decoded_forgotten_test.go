package informer_test

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// A string of data that a transform has removed is not kept in memory by the informer, nor are a
// deleted Secret's strings, whatever they are.
func TestRemovedSecretsAreForgotten(t *testing.T) {
	const content = `"data":{"password":"a password of some length"},"stringData":{"nested":[{"password":"another password of some length"}]}`
	for what, of := range map[string]struct{ kind, resource string }{
		"Secrets":     {"Secret", "secrets"},
		"ConfigMaps":  {"ConfigMap", "configmaps"},
		"other kinds": {"Gadget", "gadgets"},
	} {
		t.Run(what, func(t *testing.T) {
			gone := make(chan string, 1000)
			seen := 0
			transform := func(u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
				data, _, _ := unstructured.NestedString(u.Object, "data", "password")
				nested := u.Object["stringData"].(map[string]any)["nested"].([]any)[0].(map[string]any)["password"].(string)
				for _, s := range []string{data, nested} {
					seen++
					runtime.AddCleanup(unsafe.StringData(s), func(s string) { gone <- s }, strings.Clone(s))
				}
				delete(u.Object, "data")
				delete(u.Object, "stringData")
				return u, nil
			}
			client := wiredDynamic(t, lists(untypedList(of.kind, 20, content)))
			i := informer.New(reflector.FromDynamic(client, schema.GroupVersionResource{Version: "v1", Resource: of.resource}, ""),
				informer.Options[*unstructured.Unstructured]{Observe: rig.Observed, Transform: transform})
			runs(t, i)
			requireGone(t, gone, seen)
			require.Equal(t, 20, i.Indexer().Len())
		})
	}
}

func TestDeletedSecretsAreForgotten(t *testing.T) {
	content := `"type":"example.com/some-type-of-secret","data":{"password":"YSBwYXNzd29yZCBvZiBzb21lIGxlbmd0aA=="}`
	list := strings.ReplaceAll(untypedList("Secret", 20, content), `"metadata":{"name"`, `"metadata":{"annotations":{"last-applied":"with a password in it"},"name"`)
	deletions := make(chan string, 20)
	transport := &answers{}
	transport.answer = func(r *http.Request) *http.Response {
		switch q := r.URL.Query(); {
		case q.Get("sendInitialEvents") != "":
			return says(400, "")
		case q.Get("watch") != "":
			return open(r, "", deletions)
		}
		return says(200, list)
	}
	remove := func() {
		for n := range 20 {
			deletions <- fmt.Sprintf(`{"type":"DELETED","object":{"kind":"Secret","apiVersion":"v1","metadata":{"name":"g%d","uid":"u%d","resourceVersion":"%d"},"data":{}}}`+"\n", n, n, 200+n)
		}
	}
	t.Run("untyped", func(t *testing.T) {
		i := informer.New(reflector.FromDynamic(wiredDynamic(t, transport), schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, ""), informer.Options[*unstructured.Unstructured]{Observe: rig.Observed})
		stop := runs(t, i)
		defer stop()
		gone, seen := make(chan string, 1000), 0
		for u := range i.Indexer().All() {
			for _, path := range [][]string{{"type"}, {"data", "password"}, {"metadata", "annotations", "last-applied"}} {
				s, _, _ := unstructured.NestedString(u.Object, path...)
				require.NotEmpty(t, s, path)
				seen++
				runtime.AddCleanup(unsafe.StringData(s), func(s string) { gone <- s }, strings.Clone(s))
			}
		}
		remove()
		require.NoError(t, i.WaitDelivered(t.Context(), "219"))
		requireGone(t, gone, seen)
	})
	t.Run("typed", func(t *testing.T) {
		client, err := kubernetes.NewForConfig(&rest.Config{Host: "http://server", Transport: transport, QPS: -1})
		require.NoError(t, err)
		i := informer.New(reflector.FromGenerated[*corev1.Secret](client.CoreV1().Secrets(""), corev1.SchemeGroupVersion.WithResource("secrets")), informer.Options[*corev1.Secret]{Observe: rig.Observed})
		stop := runs(t, i)
		defer stop()
		gone, seen := make(chan string, 1000), 0
		for secret := range i.Indexer().All() {
			for _, s := range []string{string(secret.Type), secret.Annotations["last-applied"]} {
				seen++
				runtime.AddCleanup(unsafe.StringData(s), func(s string) { gone <- s }, strings.Clone(s))
			}
		}
		remove()
		require.NoError(t, i.WaitDelivered(t.Context(), "219"))
		requireGone(t, gone, seen)
	})
}

// requireGone waits until the garbage collector has freed so many strings.
func requireGone(t *testing.T, gone <-chan string, count int) {
	t.Helper()
	require.NotZero(t, count)
	freed := 0
	require.Eventually(t, func() bool {
		runtime.GC()
		for ; len(gone) > 0; freed++ {
			<-gone
		}
		return freed == count
	}, 10*time.Second, time.Millisecond, "strings are still in memory")
}
