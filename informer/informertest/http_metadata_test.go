package informertest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
)

// The metadata client asks for protobuf and gets it, even for objects without a protobuf form.
func TestMetadataClient(t *testing.T) {
	for name, r := range map[string]schema.GroupVersionResource{"built in": pods, "CRD": cronKind.GVR} {
		t.Run(name, func(t *testing.T) {
			s := startServer(t, Options{})
			ctx := t.Context()
			require.NoError(t, s.Register(cronKind))
			objects := map[schema.GroupVersionResource][]apiObject{
				pods:         {newPod("a", "c", "n", "1"), newPod("a", "d")},
				cronKind.GVR: {newCron("a", "c", "daily"), newCron("a", "d", "daily")},
			}[r]
			for _, obj := range objects {
				obj.SetLabels(map[string]string{"n": obj.GetName()})
				require.NoError(t, s.Create(ctx, obj))
			}
			made, err := metadata.NewForConfig(s.ClientConfig())
			require.NoError(t, err)
			client := made.Resource(r)

			page, err := client.List(ctx, metav1.ListOptions{Limit: 1})
			require.NoError(t, err)
			require.Len(t, page.Items, 1)
			assert.Equal(t, "3", page.ResourceVersion)
			assert.EqualValues(t, 1, *page.RemainingItemCount)
			assert.Equal(t, objects[0].GetUID(), page.Items[0].UID)
			found, err := client.Namespace("a").Get(ctx, "d", metav1.GetOptions{})
			require.NoError(t, err)
			assert.Equal(t, map[string]string{"n": "d"}, found.Labels)
			_, err = client.Namespace("a").Get(ctx, "e", metav1.GetOptions{})
			assert.True(t, apierrors.IsNotFound(err), err)

			w, err := client.Watch(ctx, streaming(""))
			require.NoError(t, err)
			defer w.Stop()
			patched, err := client.Namespace("a").Patch(ctx, "d", types.MergePatchType, []byte(`{"metadata":{"labels":{"x":"y"}}}`), metav1.PatchOptions{})
			require.NoError(t, err)
			assert.Equal(t, map[string]string{"n": "d", "x": "y"}, patched.Labels)
			s.Bookmark()
			require.NoError(t, client.Namespace("a").Delete(ctx, "c", metav1.DeleteOptions{}))
			want := []string{"ADDED a/c@2", "ADDED a/d@3", "END @3", "MODIFIED a/d@4", "BOOKMARK @4", "DELETED a/c@5"}
			if r == pods { // a pod is marked first
				want = append(want[:5], "MODIFIED a/c@5", "DELETED a/c@6")
			}
			assert.Equal(t, want, takeEvents(t, w, len(want)))
		})
	}
}

func TestMetadataInJSON(t *testing.T) {
	s := New(Options{})
	defer s.Close()
	require.NoError(t, s.Create(t.Context(), newPod("a", "p")))
	meta := metav1.TypeMeta{APIVersion: "meta.k8s.io/v1"}
	_, obj := sendRequest[map[string]any](t, s, "GET", "/api/v1/namespaces/a/pods/p", "", "Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1")
	assert.Equal(t, meta.APIVersion, obj["apiVersion"])
	assert.Equal(t, "PartialObjectMetadata", obj["kind"])
	assert.NotContains(t, obj, "spec")
	_, list := sendRequest[metav1.PartialObjectMetadataList](t, s, "GET", "/api/v1/pods", "", "Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")
	assert.Equal(t, "PartialObjectMetadataList", list.Kind)
	assert.Equal(t, "PartialObjectMetadata", list.Items[0].Kind)
}
