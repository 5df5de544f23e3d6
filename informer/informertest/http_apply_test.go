package informertest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
)

// managers describes the managers of an object's fields.
func managers(obj metav1.Object) []string {
	spelled := []string{}
	for _, e := range obj.GetManagedFields() {
		spelled = append(spelled, fmt.Sprintf("%s %s%s", e.Operation, e.Manager, e.Subresource))
	}
	return spelled
}

func TestClientsetApplies(t *testing.T) {
	s := startServer(t, Options{})
	ctx, pods := t.Context(), newClient(t, protobufConfig(s)).CoreV1().Pods("a")
	web := metav1.ApplyOptions{FieldManager: "web"}
	wanted := applycorev1.Pod("p", "a").WithLabels(map[string]string{"app": "web"}).
		WithSpec(applycorev1.PodSpec().WithContainers(applycorev1.Container().WithName("c").WithImage("1")))

	applied, err := pods.Apply(ctx, wanted, web)
	require.NoError(t, err)
	assert.Equal(t, "2", applied.ResourceVersion)
	assert.Equal(t, corev1.PodPending, applied.Status.Phase)
	extracted, err := applycorev1.ExtractPod(applied, "web")
	require.NoError(t, err)
	assert.Equal(t, wanted, extracted, "what a manager has applied can be had back")

	// The object is changed, by the server's methods or by a client.
	require.NoError(t, s.Get(ctx, "a", "p", applied))
	applied.Spec.Containers[0].Image = "2"
	require.NoError(t, s.Update(ctx, applied))
	assert.Equal(t, []string{"Apply web", "Update informertest"}, managers(applied))
	_, err = pods.Apply(ctx, wanted, web)
	require.True(t, apierrors.IsConflict(err), err)
	require.ErrorContains(t, err, `conflict with "informertest" using v1: .spec.containers[name="c"].image`)
	applied.Labels["app"] = "db"
	applied, err = pods.Update(ctx, applied, metav1.UpdateOptions{FieldManager: "db"})
	require.NoError(t, err)
	assert.Equal(t, []string{"Apply web", "Update db", "Update informertest"}, managers(applied))

	web.Force = true
	applied, err = pods.Apply(ctx, wanted, web)
	require.NoError(t, err)
	assert.Equal(t, "web", applied.Labels["app"])
	assert.Equal(t, []string{"Apply web"}, managers(applied))
}

// Objects have no managed fields before an apply. Managed fields that a client sets are kept.
func TestManagedFieldsBeginWithAnApply(t *testing.T) {
	s := startServer(t, Options{})
	ctx, pods := t.Context(), newClient(t, s.ClientConfig()).CoreV1().Pods("a")
	created, err := pods.Create(ctx, newPod("", "p", "app", "web"), metav1.CreateOptions{FieldManager: "x"})
	require.NoError(t, err)
	created.Labels["app"] = "db"
	updated, err := pods.Update(ctx, created, metav1.UpdateOptions{FieldManager: "x"})
	require.NoError(t, err)
	assert.Empty(t, managers(updated))

	updated.Status.HostIP = "10.0.0.1"
	_, err = pods.UpdateStatus(ctx, updated, metav1.UpdateOptions{})
	require.NoError(t, err)
	applied, err := pods.Apply(ctx, applycorev1.Pod("p", "a").WithAnnotations(map[string]string{"a": "b"}), metav1.ApplyOptions{FieldManager: "y"})
	require.NoError(t, err)
	assert.Equal(t, []string{"Apply y", "Update " + firstManager, "Update " + firstManager + "status"}, managers(applied))
	assert.Equal(t, map[string]string{"app": "db"}, applied.Labels)

	status := applycorev1.PodStatus().WithPhase(corev1.PodRunning)
	_, err = pods.ApplyStatus(ctx, applycorev1.Pod("p", "a").WithStatus(status.WithHostIP("10.0.0.2")), metav1.ApplyOptions{FieldManager: "y"})
	require.True(t, apierrors.IsConflict(err), err)
	require.ErrorContains(t, err, "1 conflict", "the phase is nobody's")
}

func TestDynamicClientAppliesCRDs(t *testing.T) {
	s := startServer(t, Options{})
	require.NoError(t, s.Register(cronKind))
	ctx, client := t.Context(), newDynamic(t, s).Resource(cronKind.GVR).Namespace("a")
	apply := func(manager string, spec map[string]any) (*unstructured.Unstructured, error) {
		wanted := newCron("a", "c", "daily")
		wanted.Object["spec"] = spec
		return client.Apply(ctx, "c", wanted, metav1.ApplyOptions{FieldManager: manager})
	}
	_, err := apply("one", map[string]any{"schedule": "daily", "list": []any{"a"}})
	require.NoError(t, err)
	both, err := apply("two", map[string]any{"tries": int64(3)})
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"schedule": "daily", "list": []any{"a"}, "tries": int64(3)}, both.Object["spec"])
	assert.EqualValues(t, 2, both.GetGeneration())
	_, err = apply("two", map[string]any{"list": []any{"b"}})
	require.True(t, apierrors.IsConflict(err), err)
	one, err := apply("one", map[string]any{"schedule": "daily"})
	require.NoError(t, err)
	assert.NotContains(t, one.Object["spec"], "list")

	status, err := client.ApplyStatus(ctx, "c", &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Cron", "metadata": map[string]any{"name": "c"}, "status": map[string]any{"replicas": int64(2)},
	}}, metav1.ApplyOptions{FieldManager: "one"})
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"replicas": int64(2)}, status.Object["status"])
	assert.EqualValues(t, 3, status.GetGeneration())
}

// Every built-in kind has a schema.
func TestAllKindsAreApplied(t *testing.T) {
	s := New(Options{})
	defer s.Close()
	for gv, kinds := range s.served() {
		for _, k := range kinds {
			path := "/apis/" + gv.String()
			if gv.Group == "" {
				path = "/api/v1"
			}
			if k.Namespaced {
				path += "/namespaces/a"
			}
			body := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"x","labels":{"a":"b"}}}`, gv, k.GVK.Kind)
			answer, applied := sendRequest[metav1.PartialObjectMetadata](t, s, "PATCH", path+"/"+k.GVR.Resource+"/x?fieldManager=me", body, "Content-Type", "application/apply-patch+yaml")
			require.Equal(t, 201, answer.Code, "%s: %s", k.GVK, answer.Body)
			require.Equal(t, []string{"Apply me"}, managers(&applied), k.GVK)
		}
	}
}

// A CRD may have a Go type that has no schema.
func TestTypedCRDsAreApplied(t *testing.T) {
	kind := Kind{
		GVR:        schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gadgets"},
		GVK:        schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Gadget"},
		Namespaced: true,
	}
	own := runtime.NewScheme()
	own.AddKnownTypeWithName(kind.GVK, &corev1.Pod{})
	own.AddKnownTypeWithName(kind.GVK.GroupVersion().WithKind("GadgetList"), &corev1.PodList{})
	s := New(Options{Scheme: own})
	defer s.Close()
	require.NoError(t, s.Register(kind))
	answer, applied := sendRequest[corev1.Pod](t, s, "PATCH", "/apis/example.com/v1/namespaces/a/gadgets/g?fieldManager=me",
		"apiVersion: example.com/v1\nkind: Gadget\nmetadata:\n  name: g\nspec:\n  nodeName: one\n", "Content-Type", "application/apply-patch+yaml")
	require.Equal(t, 201, answer.Code, answer.Body)
	assert.Equal(t, "one", applied.Spec.NodeName)
	assert.Equal(t, []string{"Apply me"}, managers(&applied))
}
