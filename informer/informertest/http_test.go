package informertest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func startServer(t *testing.T, o Options) *Server {
	t.Helper()
	s := New(o)
	t.Cleanup(s.Close)
	require.NoError(t, s.Start())
	return s
}

func newClient(t testing.TB, c *rest.Config) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(c)
	require.NoError(t, err)
	return client
}

// takeEvents receives n events, and describes them as spellEvents does.
func takeEvents(t *testing.T, w watch.Interface, n int) []string {
	t.Helper()
	events := []watch.Event{}
	for range n {
		e, ok := <-w.ResultChan()
		require.True(t, ok, "the watch ended after %v", spellEvents(events))
		events = append(events, e)
	}
	return spellEvents(events)
}

func TestClientsetWrites(t *testing.T) {
	s := startServer(t, Options{})
	ctx, client := t.Context(), newClient(t, s.ClientConfig())

	created, err := client.CoreV1().Pods("a").Create(ctx, newPod("", "p"), metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, "2", created.ResourceVersion)
	assert.Equal(t, "a", created.Namespace)

	updated := created.DeepCopy()
	updated.Labels = map[string]string{"x": "y"}
	updated, err = client.CoreV1().Pods("a").Update(ctx, updated, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, "3", updated.ResourceVersion)
	_, err = client.CoreV1().Pods("a").Update(ctx, created, metav1.UpdateOptions{})
	assert.True(t, apierrors.IsConflict(err), err)
	_, err = client.CoreV1().Pods("a").Create(ctx, newPod("", "p"), metav1.CreateOptions{})
	assert.True(t, apierrors.IsAlreadyExists(err), err)

	found, err := client.CoreV1().Pods("a").Get(ctx, "p", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, updated, found)
	assert.Empty(t, found.Kind)

	old := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &created.ResourceVersion}}
	assert.True(t, apierrors.IsConflict(client.CoreV1().Pods("a").Delete(ctx, "p", old)))
	require.NoError(t, client.CoreV1().Pods("a").Delete(ctx, "p", metav1.DeleteOptions{}))
	_, err = client.CoreV1().Pods("a").Get(ctx, "p", metav1.GetOptions{})
	assert.True(t, apierrors.IsNotFound(err), err)

	_, err = client.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = client.CoreV1().Namespaces().Get(ctx, "a", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, map[string]int{"get": 3, "create": 4, "update": 2, "delete": 2}, s.Counts())
}

func TestClientsetLists(t *testing.T) {
	s := startServer(t, Options{})
	ctx, client := t.Context(), newClient(t, s.ClientConfig())
	for i := range 5 {
		require.NoError(t, s.Create(ctx, newPod("a", fmt.Sprint(i), "odd", fmt.Sprint(i%2))))
	}
	require.NoError(t, s.Create(ctx, newPod("b", "0", "odd", "0")))

	page, err := client.CoreV1().Pods("a").List(ctx, metav1.ListOptions{Limit: 3})
	require.NoError(t, err)
	assert.Len(t, page.Items, 3)
	assert.EqualValues(t, 2, *page.RemainingItemCount)
	assert.Equal(t, "7", page.ResourceVersion)
	assert.Empty(t, page.Items[0].Kind)
	require.NoError(t, s.Delete(ctx, newPod("a", "4")))
	rest, err := client.CoreV1().Pods("a").List(ctx, metav1.ListOptions{Continue: page.Continue})
	require.NoError(t, err)
	assert.Len(t, rest.Items, 2)
	assert.Equal(t, "7", rest.ResourceVersion)

	s.Compact()
	_, err = client.CoreV1().Pods("a").List(ctx, metav1.ListOptions{Continue: page.Continue})
	assert.True(t, apierrors.IsResourceExpired(err), err)
	_, err = client.CoreV1().Pods("").List(ctx, metav1.ListOptions{ResourceVersion: "7", ResourceVersionMatch: metav1.ResourceVersionMatchExact})
	assert.True(t, apierrors.IsResourceExpired(err), err)

	selected, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{LabelSelector: "odd=0", FieldSelector: "metadata.name!=2"})
	require.NoError(t, err)
	assert.Len(t, selected.Items, 2)
	_, err = client.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: "spec.x=2"})
	assert.True(t, apierrors.IsBadRequest(err), err)
	empty, err := client.CoreV1().Secrets("").List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	assert.Equal(t, []corev1.Secret{}, empty.Items)
}

func TestClientsetWatches(t *testing.T) {
	s := startServer(t, Options{})
	ctx, client := t.Context(), newClient(t, s.ClientConfig())
	require.NoError(t, s.Create(ctx, newPod("a", "p")))

	all, err := client.CoreV1().Pods("").Watch(ctx, metav1.ListOptions{ResourceVersion: "1", AllowWatchBookmarks: true})
	require.NoError(t, err)
	selecting, err := client.CoreV1().Pods("a").Watch(ctx, metav1.ListOptions{LabelSelector: "x=y"})
	require.NoError(t, err)
	stream, err := client.CoreV1().Pods("").Watch(ctx, streaming(""))
	require.NoError(t, err)

	assert.Equal(t, []string{"ADDED a/p@2", "END @2"}, takeEvents(t, stream, 2))
	require.NoError(t, s.Update(ctx, newPod("a", "p", "x", "y")))
	require.NoError(t, s.Update(ctx, newPod("a", "p")))
	s.Bookmark()
	require.NoError(t, s.Delete(ctx, newPod("a", "p")))
	assert.Equal(t, []string{"ADDED a/p@2", "MODIFIED a/p@3", "MODIFIED a/p@4", "BOOKMARK @4", "DELETED a/p@5"}, takeEvents(t, all, 5))
	assert.Equal(t, []string{"ADDED a/p@3", "DELETED a/p@4"}, takeEvents(t, selecting, 2))
	assert.Equal(t, []string{"MODIFIED a/p@3"}, takeEvents(t, stream, 1))

	s.CutWatches()
	for _, w := range []watch.Interface{all, selecting, stream} {
		for range w.ResultChan() {
		}
	}

	s.Compact()
	late, err := client.CoreV1().Pods("").Watch(ctx, metav1.ListOptions{ResourceVersion: "2"})
	require.NoError(t, err, "accepted first")
	e := <-late.ResultChan()
	assert.True(t, apierrors.IsResourceExpired(apierrors.FromObject(e.Object)), e)
	_, ok := <-late.ResultChan()
	assert.False(t, ok)
	assert.Equal(t, map[string]int{"watch": 3, "watchlist": 1}, s.Counts())
}

func TestRefusedStreamOverHTTP(t *testing.T) {
	s := startServer(t, Options{NoWatchList: true})
	_, err := newClient(t, s.ClientConfig()).CoreV1().Pods("").Watch(t.Context(), streaming(""))
	assert.True(t, apierrors.IsInvalid(err), err)
}

// A client with the default configuration asks for protobuf, and accepts JSON.
func TestClientThatPrefersProtobuf(t *testing.T) {
	s := startServer(t, Options{})
	c := s.ClientConfig()
	c.ContentConfig = rest.ContentConfig{}
	client := newClient(t, c)
	require.NoError(t, s.Create(t.Context(), newPod("a", "p")))
	list, err := client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.Len(t, list.Items, 1)
	w, err := client.CoreV1().Pods("").Watch(t.Context(), streaming(""))
	require.NoError(t, err)
	assert.Equal(t, []string{"ADDED a/p@2", "END @2"}, takeEvents(t, w, 2))
	w.Stop()
	_, err = client.CoreV1().Pods("a").Create(t.Context(), newPod("a", "q"), metav1.CreateOptions{})
	require.NoError(t, err)
}

func TestClientsAndTheLifeOfTheServer(t *testing.T) {
	s := New(Options{})
	defer s.Close()
	early := newClient(t, s.ClientConfig())
	_, err := early.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	require.ErrorIs(t, err, errNotStarted)

	require.NoError(t, s.Start())
	address := s.ClientConfig().Host
	require.NoError(t, s.Start(), "again")
	assert.Equal(t, address, s.ClientConfig().Host)
	w, err := early.CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)

	s.Close()
	for range w.ResultChan() {
	}
	_, err = newClient(t, s.ClientConfig()).CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	require.Error(t, err)
	answer := httptest.NewRecorder()
	s.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/api/v1/pods", http.NoBody))
	assert.Equal(t, http.StatusServiceUnavailable, answer.Code)
}

func TestDiscovery(t *testing.T) {
	s := startServer(t, Options{})
	client := newClient(t, s.ClientConfig())
	version, err := client.Discovery().ServerVersion()
	require.NoError(t, err)
	assert.Equal(t, "1.37", version.Major+"."+version.Minor)

	_, lists, err := client.Discovery().ServerGroupsAndResources()
	require.NoError(t, err)
	found, main := map[string]string{}, 0
	for _, list := range lists {
		for _, r := range list.APIResources {
			found[list.GroupVersion+" "+r.Name] = fmt.Sprintf("%s %q %t", r.Kind, r.SingularName, r.Namespaced)
			if !strings.Contains(r.Name, "/") {
				main++
			}
		}
	}
	assert.Equal(t, 147, main)
	assert.Equal(t, `ReplicaSet "replicaset" true`, found["apps/v1 replicasets"])
	assert.Equal(t, `ReplicaSet "" true`, found["apps/v1 replicasets/status"])
	assert.Equal(t, `Scale "" true`, found["apps/v1 replicasets/scale"])
	assert.Equal(t, `Node "node" false`, found["v1 nodes"])
	assert.NotContains(t, found, "v1 configmaps/status")
	assert.NotContains(t, found, "extensions/v1beta1 deployments/scale")

	group, err := client.RESTClient().Get().AbsPath("/apis/policy").DoRaw(t.Context())
	require.NoError(t, err)
	assert.JSONEq(t, `{"kind":"APIGroup","apiVersion":"v1","name":"policy","preferredVersion":{"groupVersion":"policy/v1","version":"v1"},
		"versions":[{"groupVersion":"policy/v1","version":"v1"},{"groupVersion":"policy/v1beta1","version":"v1beta1"}]}`, string(group))
	for _, path := range []string{"/readyz", "/livez", "/healthz"} {
		text, err := client.RESTClient().Get().AbsPath(path).DoRaw(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "ok", string(text))
	}
}

// sendRequest sends a raw request, and reads the answer.
func sendRequest[T any](t *testing.T, s *Server, method, path, body string, header ...string) (answer *httptest.ResponseRecorder, read T) {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer = httptest.NewRecorder()
	s.ServeHTTP(answer, r)
	require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &read), answer.Body.String())
	return answer, read
}

func TestRequestsThatAreRefused(t *testing.T) {
	s := New(Options{})
	defer s.Close()
	require.NoError(t, s.Create(t.Context(), newPod("a", "p")))
	const pods, pod = "/api/v1/namespaces/a/pods", "/api/v1/namespaces/a/pods/p"
	const configMaps = "/api/v1/configmaps"
	const body = `{"metadata":{"name":"p"}}`
	for _, row := range []struct {
		method, path, body string
		header             []string
		code               int
		reason             metav1.StatusReason
	}{
		{"GET", "/", "", nil, 404, metav1.StatusReasonNotFound},
		{"GET", "/metrics", "", nil, 404, metav1.StatusReasonNotFound},
		{"GET", "/api/v2", "", nil, 404, metav1.StatusReasonNotFound},
		{"GET", "/apis/nope", "", nil, 404, metav1.StatusReasonNotFound},
		{"GET", "/apis/nope/v1", "", nil, 404, metav1.StatusReasonNotFound},
		{"GET", "/apis/apps/v1/pods", "", nil, 404, metav1.StatusReasonNotFound},
		{"GET", "/api/v1/bods", "", nil, 404, metav1.StatusReasonNotFound},
		{"GET", "/api/v1//pods", "", nil, 404, metav1.StatusReasonNotFound},
		{"GET", "/api/v1/pods/p", "", nil, 404, metav1.StatusReasonNotFound},
		{"GET", "/api/v1/namespaces/a/nodes", "", nil, 404, metav1.StatusReasonNotFound},
		{"GET", pod + "/log", "", nil, 404, metav1.StatusReasonNotFound},
		{"GET", pod + "/scale", "", nil, 404, metav1.StatusReasonNotFound},
		{"GET", pod + "/status/x", "", nil, 404, metav1.StatusReasonNotFound},
		{"GET", configMaps + "/c/status", "", nil, 404, metav1.StatusReasonNotFound},
		{"GET", pod + "?resourceVersion=9", "", nil, 504, metav1.StatusReasonTimeout},
		{"GET", pods + "?limit=x", "", nil, 400, metav1.StatusReasonBadRequest},
		{"GET", pods + "?labelSelector=!!", "", nil, 400, metav1.StatusReasonBadRequest},
		{"GET", pods + "?watch=true&resourceVersion=x", "", nil, 500, metav1.StatusReasonUnknown},
		{"GET", configMaps + "?fieldSelector=a=b", "", nil, 400, metav1.StatusReasonBadRequest},
		{"GET", pods, "", []string{"Accept", "application/cbor, text/html, ;;, application/json;q=0"}, 406, metav1.StatusReasonNotAcceptable},
		{"GET", pods, "", []string{"Accept", "application/json;as=Table;g=meta.k8s.io;v=v1"}, 406, metav1.StatusReasonNotAcceptable},
		{"GET", pods, "", []string{"Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"}, 406, metav1.StatusReasonNotAcceptable},
		{"GET", pods + "?watch=1", "", []string{"Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}, 406, metav1.StatusReasonNotAcceptable},
		{"GET", pod, "", []string{"Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}, 406, metav1.StatusReasonNotAcceptable},
		{"GET", pod, "", []string{"Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v2"}, 406, metav1.StatusReasonNotAcceptable},
		{"GET", "/apis", "", []string{"Accept", "application/yaml"}, 406, metav1.StatusReasonNotAcceptable},
		{"POST", "/version", "", nil, 405, metav1.StatusReasonMethodNotAllowed},
		{"POST", "/api/v1/pods", body, nil, 405, metav1.StatusReasonMethodNotAllowed},
		{"POST", pod, body, nil, 405, metav1.StatusReasonMethodNotAllowed},
		{"PATCH", pods, "{}", nil, 405, metav1.StatusReasonMethodNotAllowed},
		{"DELETE", pod + "/status", "", nil, 405, metav1.StatusReasonMethodNotAllowed},
		{"DELETE", "/api/v1/pods", "", nil, 405, metav1.StatusReasonMethodNotAllowed},
		{"DELETE", "/api/v1/namespaces", "", nil, 405, metav1.StatusReasonMethodNotAllowed},
		{"DELETE", pods + "?limit=x", "", nil, 400, metav1.StatusReasonBadRequest},
		{"DELETE", pods + "?fieldSelector=a=b", "", nil, 400, metav1.StatusReasonBadRequest},
		{"DELETE", pods, "{", nil, 400, metav1.StatusReasonBadRequest},
		{"POST", pods, body, []string{"Content-Type", "application/vnd.kubernetes.protobuf"}, 400, metav1.StatusReasonBadRequest},
		{"POST", pods, body, []string{"Content-Type", "application/cbor"}, 415, metav1.StatusReasonUnsupportedMediaType},
		{"POST", pods, body, []string{"Content-Type", ";"}, 415, metav1.StatusReasonUnsupportedMediaType},
		{"POST", pods, body, nil, 409, metav1.StatusReasonAlreadyExists},
		{"POST", pods, "{", nil, 400, metav1.StatusReasonBadRequest},
		{"POST", pods, "", nil, 400, metav1.StatusReasonBadRequest},
		{"POST", pods, `{"kind":"Node","apiVersion":"v1"}`, nil, 400, metav1.StatusReasonBadRequest},
		{"POST", pods, `{"kind":"Pod","apiVersion":"v2"}`, nil, 400, metav1.StatusReasonBadRequest},
		{"POST", pods, strings.Repeat(" ", maxBody+1), nil, 413, metav1.StatusReasonRequestEntityTooLarge},
		{"POST", pods + "?dryRun=Some", body, nil, 422, metav1.StatusReasonInvalid},
		{"POST", pods + "?dryRun=All", body, nil, 409, metav1.StatusReasonAlreadyExists},
		{"PUT", pods + "/q", body, nil, 400, metav1.StatusReasonBadRequest},
		{"PUT", pods + "/q", `{"metadata":{"name":"q"}}`, nil, 404, metav1.StatusReasonNotFound},
		{"DELETE", pods + "/q", "", nil, 404, metav1.StatusReasonNotFound},
		{"DELETE", pod, "{}", []string{"Content-Type", "application/cbor"}, 415, metav1.StatusReasonUnsupportedMediaType},
		{"DELETE", pod, "{", nil, 400, metav1.StatusReasonBadRequest},
		{"DELETE", pod, `{"dryRun":["Some"]}`, nil, 422, metav1.StatusReasonInvalid},
		{"DELETE", pod, `{"propagationPolicy":"Sideways"}`, nil, 422, metav1.StatusReasonInvalid},
		{"DELETE", pod, strings.Repeat(" ", maxBody+1), nil, 413, metav1.StatusReasonRequestEntityTooLarge},
	} {
		answer, status := sendRequest[metav1.Status](t, s, row.method, row.path, row.body, row.header...)
		name := fmt.Sprintf("%s %s %.40s %v: %s", row.method, row.path, row.body, row.header, status.Message)
		assert.Equal(t, row.code, answer.Code, name)
		assert.Equal(t, row.reason, status.Reason, name)
		assert.EqualValues(t, row.code, status.Code, name)
		assert.Equal(t, metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, status.TypeMeta, name)
		assert.NotEmpty(t, status.Message, name)
	}
}

func TestRetryAfter(t *testing.T) {
	s := New(Options{})
	defer s.Close()
	answer, status := sendRequest[metav1.Status](t, s, http.MethodGet, "/api/v1/pods?resourceVersion=9", "")
	assert.Equal(t, http.StatusGatewayTimeout, answer.Code)
	assert.Equal(t, "1", answer.Header().Get("Retry-After"), "which clients obey")
	assert.Equal(t, metav1.CauseTypeResourceVersionTooLarge, status.Details.Causes[0].Type)
}

func TestTypesAreNamedInAnswers(t *testing.T) {
	s := New(Options{})
	defer s.Close()
	const path = "/api/v1/namespaces/a/pods"
	for _, row := range []struct{ method, path, body, kind string }{
		{"POST", path, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"}}`, "Pod"},
		{"PUT", path + "/p", `{"metadata":{"name":"p","labels":{"x":"y"}}}`, "Pod"},
		{"GET", path + "/p", "", "Pod"},
		{"GET", path, "", "PodList"},
		{"DELETE", path + "/p", "", "Pod"},
		{"POST", "/api/v1/namespaces/a/configmaps", `{"metadata":{"name":"c"}}`, "ConfigMap"},
		{"DELETE", "/api/v1/namespaces/a/configmaps/c", "", "Status"},
	} {
		answer, read := sendRequest[metav1.TypeMeta](t, s, row.method, row.path, row.body, "Accept", "text/html, application/*;q=0.5")
		assert.Less(t, answer.Code, 300, row.method)
		assert.Equal(t, metav1.TypeMeta{Kind: row.kind, APIVersion: "v1"}, read)
		for _, obj := range s.model.collections[pods].items {
			assert.Empty(t, obj[0].object.(*corev1.Pod).Kind, "what is stored stays as it is")
		}
	}
}

func TestUnknownErrorsAreInternal(t *testing.T) {
	recorder := httptest.NewRecorder()
	writeError(recorder, httptest.NewRequest(http.MethodGet, "/", http.NoBody), io.ErrUnexpectedEOF)
	assert.Equal(t, http.StatusInternalServerError, recorder.Code)
}
