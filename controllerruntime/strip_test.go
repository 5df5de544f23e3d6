package controllerruntime

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tidemark-k8s/tidemark/controllerruntime/internal/place"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// controller-runtime's own transform is recognized wherever it is called, and no other function is.
func TestStripIsRecognised(t *testing.T) {
	strip := cache.TransformStripManagedFields()
	elsewhere := func() toolscache.TransformFunc { return cache.TransformStripManagedFields() }
	for name, f := range map[string]toolscache.TransformFunc{"here": strip, "elsewhere": elsewhere()} {
		require.Equal(t, []string{"metadata.managedFields"}, stripped(f), name)
	}
	for name, f := range map[string]toolscache.TransformFunc{
		"one that calls it": func(o any) (any, error) { return strip(o) },
		"another":           func(o any) (any, error) { return o, nil },
		"none":              nil,
	} {
		require.Nil(t, stripped(f), name)
	}
}

// Wherever the options set the transform, and whatever form the objects have, they are those of client-go's informers.
func TestStrippedObjects(t *testing.T) {
	s := newServer(t)
	pod, kind := newPod("a", "one"), corev1.SchemeGroupVersion.WithKind("Pod")
	pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`)}}
	require.NoError(t, s.Create(t.Context(), pod))
	require.NoError(t, s.Create(t.Context(), newPod("a", "none")))
	strip := cache.TransformStripManagedFields()
	byObject := func(example client.Object, by cache.ByObject) cache.Options {
		return cache.Options{ByObject: map[client.Object]cache.ByObject{example: by}}
	}
	for form, made := range map[string]func() client.Object{
		"typed":        func() client.Object { return &corev1.Pod{} },
		"unstructured": func() client.Object { return untyped(kind) },
		"metadata":     func() client.Object { return metadata(kind) },
	} {
		for place, options := range map[string]cache.Options{
			"DefaultTransform":    {DefaultTransform: strip},
			"DefaultNamespaces":   {DefaultNamespaces: map[string]cache.Config{"a": {Transform: strip}}},
			"ByObject":            byObject(made(), cache.ByObject{Transform: strip}),
			"ByObject.Namespaces": byObject(made(), cache.ByObject{Namespaces: map[string]cache.Config{"a": {Transform: strip}}}),
		} {
			t.Run(form+" "+place, func(t *testing.T) {
				want, config := started(t, s.ClientConfig(), options), s.ClientConfig()
				_, err := Use(config, &options)
				require.NoError(t, err)
				got := started(t, config, options)
				for _, name := range []string{"one", "none"} {
					theirs, ours := made(), made()
					require.NoError(t, want.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: name}, theirs))
					require.NoError(t, got.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: name}, ours))
					assert.Equal(t, theirs, ours)
					assert.Empty(t, ours.GetManagedFields())
				}
			})
		}
	}
}

// The object in the answer to an own write has no managedFields either.
func TestStripOfOwnWrites(t *testing.T) {
	s, o := newServer(t), quiet()
	o.Cache.DefaultTransform = cache.TransformStripManagedFields()
	m, err := NewManager(s.ClientConfig(), o, OwnWrites(reflector.NewOwnWrites()))
	require.NoError(t, err)
	runs(t, m)
	require.NoError(t, m.GetClient().List(t.Context(), &corev1.PodList{}))
	pod := newPod("a", "one")
	pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl", Operation: metav1.ManagedFieldsOperationUpdate}}
	require.NoError(t, m.GetClient().Create(t.Context(), pod))
	require.NotEmpty(t, pod.ManagedFields)
	for held := range InformersOf(m).All() {
		pods, _ := informer.As[*corev1.Pod](held.Informer)
		got, found := pods.Indexer().Get(indexer.Key{Namespace: "a", Name: "one"})
		require.True(t, found)
		require.Empty(t, got.ManagedFields)
	}
}

// Any other transform runs, also beside fields that the options drop.
func TestAnotherTransformRuns(t *testing.T) {
	s, o := newServer(t), quiet()
	pod := newPod("a", "one")
	pod.Spec.NodeName = "n1"
	require.NoError(t, s.Create(t.Context(), pod))
	o.Cache.DefaultTransform = func(in any) (any, error) {
		in.(client.Object).SetAnnotations(map[string]string{"by": "transform"})
		return cache.TransformStripManagedFields()(in)
	}
	m, err := NewManager(s.ClientConfig(), o, Drop(&corev1.Pod{}, "spec"))
	require.NoError(t, err)
	runs(t, m)
	require.NoError(t, m.GetClient().Get(t.Context(), client.ObjectKeyFromObject(pod), pod))
	require.Equal(t, map[string]string{"by": "transform"}, pod.Annotations)
	require.Empty(t, pod.Spec.NodeName)
}

// A recognized transform is not called, and what it would remove is not there.
func TestARecognisedTransformIsNotCalled(t *testing.T) {
	s, o := newServer(t), quiet()
	pod := newPod("a", "one")
	pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl", Operation: metav1.ManagedFieldsOperationUpdate}}
	require.NoError(t, s.Create(t.Context(), pod))
	called := false
	o.Cache.DefaultTransform = func(in any) (any, error) { called = true; return in, nil }
	defer func(was string) { strip = was }(strip)
	strip = place.Of(o.Cache.DefaultTransform)
	m, err := NewManager(s.ClientConfig(), o)
	require.NoError(t, err)
	runs(t, m)
	require.NoError(t, m.GetClient().Get(t.Context(), client.ObjectKeyFromObject(pod), pod))
	require.Empty(t, pod.ManagedFields)
	require.False(t, called)
}
