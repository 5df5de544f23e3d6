package informertest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// protobufConfig returns the config of a client that uses only protobuf.
func protobufConfig(s *Server) *rest.Config {
	c := s.ClientConfig()
	c.ContentConfig = rest.ContentConfig{ContentType: runtime.ContentTypeProtobuf, AcceptContentTypes: runtime.ContentTypeProtobuf}
	return c
}

func TestClientsetInProtobuf(t *testing.T) {
	s := startServer(t, Options{})
	ctx, client := t.Context(), newClient(t, protobufConfig(s))
	pods := client.CoreV1().Pods("a")

	w, err := pods.Watch(ctx, streaming(""))
	require.NoError(t, err)
	defer w.Stop()
	pod := newPod("a", "p", "app", "web")
	pod.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
	created, err := pods.Create(ctx, pod, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, pod.Spec, created.Spec)
	created.Labels["app"] = "db"
	updated, err := pods.Update(ctx, created, metav1.UpdateOptions{})
	require.NoError(t, err)
	updated.Status.Phase = corev1.PodRunning
	updated, err = pods.UpdateStatus(ctx, updated, metav1.UpdateOptions{})
	require.NoError(t, err)
	found, err := pods.Get(ctx, "p", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, updated, found)
	list, err := pods.List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	assert.Equal(t, []corev1.Pod{*found}, list.Items)
	assert.Equal(t, "4", list.ResourceVersion)
	s.Bookmark()

	old := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &created.ResourceVersion}}
	err = pods.Delete(ctx, "p", old)
	assert.True(t, apierrors.IsConflict(err), err)
	require.NoError(t, pods.Delete(ctx, "p", metav1.DeleteOptions{}))
	_, err = pods.Get(ctx, "p", metav1.GetOptions{})
	assert.True(t, apierrors.IsNotFound(err), err)
	// A pod is marked before it is deleted.
	want := []string{"END @1", "ADDED a/p@2", "MODIFIED a/p@3", "MODIFIED a/p@4", "BOOKMARK @4", "MODIFIED a/p@5", "DELETED a/p@6"}
	assert.Equal(t, want, takeEvents(t, w, len(want)))

	s.Compact()
	late, err := pods.Watch(ctx, metav1.ListOptions{ResourceVersion: "2"})
	require.NoError(t, err)
	defer late.Stop()
	e := <-late.ResultChan()
	assert.True(t, apierrors.IsResourceExpired(apierrors.FromObject(e.Object)), e)
	_, ok := <-late.ResultChan()
	assert.False(t, ok)
}

// Every built-in kind has a JSON form and a protobuf form, and survives both unchanged.
func TestBuiltinKindsInBothForms(t *testing.T) {
	for media, config := range map[string]func(*Server) *rest.Config{"json": (*Server).ClientConfig, "protobuf": protobufConfig} {
		t.Run(media, func(t *testing.T) {
			s := startServer(t, Options{})
			kinds := builtinKinds()
			require.Len(t, kinds, 147)
			for _, k := range kinds {
				roundTrip(t, s, config(s), k)
			}
		})
	}
}

// roundTrip creates an object, and finds it in the list.
func roundTrip(t *testing.T, s *Server, c *rest.Config, k Kind) {
	t.Helper()
	gv := k.GVR.GroupVersion()
	c.GroupVersion, c.NegotiatedSerializer, c.APIPath = &gv, scheme.Codecs.WithoutConversion(), "/apis"
	if gv.Group == "" {
		c.APIPath = "/api"
	}
	client, err := rest.RESTClientFor(c)
	require.NoError(t, err)
	made, err := scheme.Scheme.New(k.GVK)
	require.NoError(t, err)
	obj, namespace := made.(apiObject), ""
	obj.SetName("x")
	if k.Namespaced {
		namespace = "a"
	}
	created, err := client.Post().NamespaceIfScoped(namespace, k.Namespaced).Resource(k.GVR.Resource).Body(obj).Do(t.Context()).Get()
	require.NoError(t, err, k.GVR)
	assert.IsType(t, obj, created, k.GVR)
	list, err := client.Get().Resource(k.GVR.Resource).Do(t.Context()).Get()
	require.NoError(t, err, k.GVR)
	items, err := meta.ExtractList(list)
	require.NoError(t, err)
	require.Len(t, items, 1, k.GVR)
	assert.Equal(t, created.(apiObject).GetUID(), items[0].(apiObject).GetUID())
	require.NoError(t, s.Get(t.Context(), namespace, "x", obj))
	assert.Equal(t, created.(apiObject).GetUID(), obj.GetUID())
}

// The server has the kinds of the typed clients.
func TestBuiltinKinds(t *testing.T) {
	found := map[string]Kind{}
	for _, k := range builtinKinds() {
		found[k.GVR.Group+"/"+k.GVR.Version+"/"+k.GVR.Resource] = k
	}
	require.Len(t, found, 147)
	for name, want := range map[string]string{
		"/v1/endpoints":                           "Endpoints namespaced",
		"/v1/nodes":                               "Node status",
		"/v1/pods":                                "Pod namespaced generation status",
		"/v1/secrets":                             "Secret namespaced",
		"/v1/replicationcontrollers":              "ReplicationController namespaced generation status scale",
		"apps/v1/deployments":                     "Deployment namespaced generation status scale",
		"apps/v1/daemonsets":                      "DaemonSet namespaced generation status",
		"apps/v1/statefulsets":                    "StatefulSet namespaced generation status scale",
		"extensions/v1beta1/deployments":          "Deployment namespaced generation status",
		"networking.k8s.io/v1/networkpolicies":    "NetworkPolicy namespaced generation",
		"networking.k8s.io/v1/ingressclasses":     "IngressClass generation",
		"storage.k8s.io/v1/storageclasses":        "StorageClass",
		"storage.k8s.io/v1/csistoragecapacities":  "CSIStorageCapacity namespaced",
		"rbac.authorization.k8s.io/v1/roles":      "Role namespaced",
		"autoscaling/v2/horizontalpodautoscalers": "HorizontalPodAutoscaler namespaced generation status",
	} {
		k := found[name]
		words := []string{k.GVK.Kind}
		for _, w := range []struct {
			word string
			is   bool
		}{{"namespaced", k.Namespaced}, {"generation", k.Generation}, {"status", k.Status}, {"scale", k.Scale}} {
			if w.is {
				words = append(words, w.word)
			}
		}
		assert.Equal(t, want, strings.Join(words, " "), name)
	}
}

// unknownClients has clients for kinds that do not exist in Kubernetes.
type unknownClients interface {
	Widgets() interface {
		List() *rolloutList
		Watch() any
	}
	Others() interface{ List() any }
	Nothing()
}

func TestClientsThatAreNone(t *testing.T) {
	for m := range clientsOf(reflect.TypeFor[unknownClients]()) {
		_, ok := kindOfClient(m)
		assert.False(t, ok, m.Name)
	}
	for m := range clientsOf(reflect.TypeFor[unknownClients]()) {
		assert.Equal(t, "Others", m.Name, "in order of their names")
		break
	}
}

func TestForms(t *testing.T) {
	s := New(Options{})
	defer s.Close()
	require.NoError(t, s.Create(t.Context(), newPod("a", "p")))
	const json, protobuf = "application/json", "application/vnd.kubernetes.protobuf"
	for _, row := range []struct{ accept, path, want string }{
		{"", "/api/v1/pods", json},
		{"*/*", "/api/v1/pods", json},
		{protobuf + "," + json, "/api/v1/pods", protobuf},
		{json + "," + protobuf, "/api/v1/pods", json},
		{json + ";q=0.5," + protobuf, "/api/v1/pods", protobuf},
		{"application/cbor," + json, "/api/v1/pods", json},
		{json + ";as=Table;g=meta.k8s.io;v=v1," + json, "/api/v1/pods", json},
		{protobuf + ";as=Table;g=meta.k8s.io;v=v1", "/api/v1/pods", json}, // 406
		{protobuf, "/api/v1/namespaces/a/pods/q", protobuf},               // 404
		{protobuf + "," + json, "/apis", json},
	} {
		r := httptest.NewRequest(http.MethodGet, row.path, http.NoBody)
		if row.accept != "" {
			r.Header.Set("Accept", row.accept)
		}
		answer := httptest.NewRecorder()
		s.ServeHTTP(answer, r)
		assert.Equal(t, row.want, answer.Header().Get("Content-Type"), fmt.Sprint(row))
	}
}
