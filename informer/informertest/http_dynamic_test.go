package informertest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// cronKind is a CRD without a Go type.
var cronKind = Kind{
	GVR:        schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "crons"},
	GVK:        schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Cron"},
	Namespaced: true, Generation: true, Status: true, Scale: true,
	Fields: func(obj runtime.Object) fields.Set {
		schedule, _, _ := unstructured.NestedString(obj.(*unstructured.Unstructured).Object, "spec", "schedule")
		return fields.Set{"spec.schedule": schedule}
	},
}

func newCron(namespace, name, schedule string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1",
		"kind":       "Cron",
		"metadata":   map[string]any{"namespace": namespace, "name": name},
		"spec":       map[string]any{"schedule": schedule, "tries": 3}, // an int, which a deep copy would not accept
	}}
}

func newDynamic(t *testing.T, s *Server) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(s.ClientConfig())
	require.NoError(t, err)
	return client
}

func TestDynamicClientOfCRD(t *testing.T) {
	s := startServer(t, Options{})
	ctx, client := t.Context(), newDynamic(t, s).Resource(cronKind.GVR)
	_, err := client.Namespace("a").List(ctx, metav1.ListOptions{})
	require.True(t, apierrors.IsNotFound(err), "no CRD yet: %v", err)
	require.NoError(t, s.Register(cronKind))
	w, err := client.Watch(ctx, streaming(""))
	require.NoError(t, err)
	defer w.Stop()
	daily, err := client.Watch(ctx, metav1.ListOptions{FieldSelector: "spec.schedule=daily"})
	require.NoError(t, err)
	defer daily.Stop()

	born := newCron("a", "c", "hourly")
	born.Object["status"] = map[string]any{"replicas": 3}
	created, err := client.Namespace("a").Create(ctx, born, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, cronKind.GVK, created.GroupVersionKind())
	assert.NotContains(t, created.Object, "status")
	assert.EqualValues(t, 1, created.GetGeneration())

	changed := created.DeepCopy()
	changed.Object["spec"].(map[string]any)["schedule"] = "daily"
	changed.Object["status"] = map[string]any{"replicas": 3}
	updated, err := client.Namespace("a").Update(ctx, changed, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.NotContains(t, updated.Object, "status")
	assert.EqualValues(t, 2, updated.GetGeneration())
	_, err = client.Namespace("a").Update(ctx, changed, metav1.UpdateOptions{})
	assert.True(t, apierrors.IsConflict(err), err)

	updated.Object["status"] = map[string]any{"replicas": int64(3), "selector": "app=c"}
	updated.Object["spec"] = nil
	updated, err = client.Namespace("a").UpdateStatus(ctx, updated, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"schedule": "daily", "tries": int64(3)}, updated.Object["spec"])
	assert.Equal(t, map[string]any{"replicas": int64(3), "selector": "app=c"}, updated.Object["status"])
	assert.EqualValues(t, 2, updated.GetGeneration())

	patched, err := client.Namespace("a").Patch(ctx, "c", types.MergePatchType, []byte(`{"metadata":{"labels":{"x":"y"}}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"x": "y"}, patched.GetLabels())
	assert.EqualValues(t, 2, patched.GetGeneration())
	list, err := client.List(ctx, metav1.ListOptions{LabelSelector: "x=y"})
	require.NoError(t, err)
	assert.Equal(t, []unstructured.Unstructured{*patched}, list.Items)
	assert.Equal(t, "CronList", list.GetKind())
	assert.Equal(t, "5", list.GetResourceVersion())

	s.Bookmark()
	require.NoError(t, client.Namespace("a").Delete(ctx, "c", metav1.DeleteOptions{}))
	_, err = client.Namespace("a").Get(ctx, "c", metav1.GetOptions{})
	assert.True(t, apierrors.IsNotFound(err), err)
	assert.Equal(t, []string{"END @1", "ADDED a/c@2", "MODIFIED a/c@3", "MODIFIED a/c@4", "MODIFIED a/c@5", "BOOKMARK @5", "DELETED a/c@6"}, takeEvents(t, w, 7))
	assert.Equal(t, []string{"ADDED a/c@3", "MODIFIED a/c@4", "MODIFIED a/c@5", "DELETED a/c@6"}, takeEvents(t, daily, 4))
	empty, err := client.List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	assert.Empty(t, empty.Items)
}

func TestScaleOfCRD(t *testing.T) {
	s := startServer(t, Options{})
	require.NoError(t, s.Register(cronKind))
	ctx, client := t.Context(), newDynamic(t, s).Resource(cronKind.GVR).Namespace("a")
	cron := newCron("a", "c", "daily")
	cron.Object["status"] = map[string]any{"replicas": 2, "selector": "app=c"}
	require.NoError(t, s.Create(ctx, cron))

	_, err := client.Patch(ctx, "c", types.MergePatchType, []byte(`{"spec":{"replicas":1}}`), metav1.PatchOptions{}, "scale")
	require.NoError(t, err)
	found, err := client.Get(ctx, "c", metav1.GetOptions{}, "scale")
	require.NoError(t, err)
	assert.Equal(t, "autoscaling/v1 Scale", found.GetAPIVersion()+" "+found.GetKind())
	assert.Equal(t, map[string]any{"replicas": int64(1)}, found.Object["spec"])
	assert.Equal(t, map[string]any{"replicas": int64(2), "selector": "app=c"}, found.Object["status"])
	require.NoError(t, unstructured.SetNestedField(found.Object, int64(7), "spec", "replicas"))
	_, err = client.Update(ctx, found, metav1.UpdateOptions{}, "scale")
	require.NoError(t, err)
	found, err = client.Patch(ctx, "c", types.JSONPatchType, []byte(`[{"op":"test","path":"/spec/replicas","value":7}]`), metav1.PatchOptions{}, "scale")
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"replicas": int64(7)}, found.Object["spec"])
	require.NoError(t, s.Get(ctx, "a", "c", cron))
	assert.Equal(t, map[string]any{"schedule": "daily", "tries": int64(3), "replicas": int64(7)}, cron.Object["spec"])
}

func TestDynamicClientOfBuiltinKind(t *testing.T) {
	s := startServer(t, Options{})
	ctx, client := t.Context(), newDynamic(t, s).Resource(pods)
	w, err := client.Watch(ctx, streaming(""))
	require.NoError(t, err)
	defer w.Stop()
	pod := &unstructured.Unstructured{Object: map[string]any{"kind": "Pod", "apiVersion": "v1", "metadata": map[string]any{"name": "p"}}}
	created, err := client.Namespace("a").Create(ctx, pod, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, unstructured.SetNestedField(created.Object, "n1", "spec", "nodeName"))
	updated, err := client.Namespace("a").Update(ctx, created, metav1.UpdateOptions{})
	require.NoError(t, err)
	list, err := client.List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=n1"})
	require.NoError(t, err)
	assert.Equal(t, []unstructured.Unstructured{*updated}, list.Items)
	assert.Equal(t, []string{"END @1", "ADDED a/p@2", "MODIFIED a/p@3"}, takeEvents(t, w, 3))
	var stored corev1.Pod
	require.NoError(t, s.Get(ctx, "a", "p", &stored))
	assert.Equal(t, "n1", stored.Spec.NodeName)
}

// A source returns unstructured objects as a dynamic client would.
func TestSourceOfCRD(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s *Server) {
		require.NoError(t, s.Register(cronKind))
		cron := newCron("a", "c", "daily")
		require.NoError(t, s.Create(t.Context(), cron))
		assert.Equal(t, "2", cron.GetResourceVersion())
		source := s.Source(cronKind.GVR, "a")
		w, err := source.Watch(t.Context(), streaming(""))
		require.NoError(t, err)
		defer w.Stop()
		assert.Equal(t, []string{"ADDED a/c@2", "END @2"}, ready(w))

		listed, err := source.List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		list := listed.(*unstructured.UnstructuredList)
		assert.Equal(t, []unstructured.Unstructured{*cron}, list.Items)
		list.Items[0].SetLabels(map[string]string{"mine": "yes"})
		found := &unstructured.Unstructured{}
		found.SetGroupVersionKind(cronKind.GVK)
		require.NoError(t, s.Get(t.Context(), "a", "c", found))
		assert.Equal(t, cron, found, "what goes out is a copy")

		found.SetLabels(map[string]string{"x": "y"})
		require.NoError(t, s.Update(t.Context(), found))
		require.NoError(t, s.Delete(t.Context(), found))
		assert.Equal(t, []string{"MODIFIED a/c@3", "DELETED a/c@4"}, ready(w))
	})
}

func TestUnstructuredThatIsRefused(t *testing.T) {
	s := New(Options{})
	defer s.Close()
	require.NoError(t, s.Register(cronKind))
	for name, change := range map[string]func(map[string]any){
		"not JSON":       func(o map[string]any) { o["spec"] = make(chan int) },
		"no metadata":    func(o map[string]any) { o["metadata"] = "x" },
		"labels are not": func(o map[string]any) { o["metadata"].(map[string]any)["labels"] = map[string]any{"x": 1} },
	} {
		cron := newCron("a", "c", "daily")
		change(cron.Object)
		err := s.Create(t.Context(), cron)
		assert.True(t, apierrors.IsBadRequest(err), "%s: %v", name, err)
		assert.Error(t, s.Update(t.Context(), cron), name)
	}
	for body, code := range map[string]int{
		`{"metadata":{"name":"c"}}`: 400, // an object of a CRD must name its kind
		`{"kind":"Cron","apiVersion":"example.com/v2","metadata":{"name":"c"}}`: 400,
		`{"kind":"Cron","apiVersion":"example.com/v1","metadata":null}`:         422,
		`{"kind":"Cron","apiVersion":"example.com/v1","metadata":{"name":"c"}}`: 201,
	} {
		answer, _ := sendRequest[map[string]any](t, s, "POST", "/apis/example.com/v1/namespaces/a/crons", body)
		assert.Equal(t, code, answer.Code, body)
	}
	answer, _ := sendRequest[map[string]any](t, s, "POST", "/apis/example.com/v1/namespaces/a/crons", "k8s", "Content-Type", runtime.ContentTypeProtobuf)
	assert.Equal(t, 415, answer.Code)
	answer, _ = sendRequest[map[string]any](t, s, "PUT", "/apis/example.com/v1/namespaces/a/crons/c/scale",
		`{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"c"},"spec":{"replicas":-1}}`)
	assert.Equal(t, 422, answer.Code)
	_, _ = sendRequest[map[string]any](t, s, "PATCH", "/apis/example.com/v1/namespaces/a/crons/c", `{"spec":"text"}`,
		"Content-Type", string(types.MergePatchType))
	answer, _ = sendRequest[map[string]any](t, s, "PUT", "/apis/example.com/v1/namespaces/a/crons/c/scale",
		`{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"c"},"spec":{"replicas":1}}`)
	assert.Equal(t, 500, answer.Code, "there is no place for a number")
}
