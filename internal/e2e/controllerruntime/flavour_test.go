package controllerruntime

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// flavour is a kind of Go type that a cache uses for a resource: typed, unstructured or metadata.
type flavour struct {
	name   string
	object func(schema.GroupVersionKind) client.Object
	list   func(schema.GroupVersionKind) client.ObjectList
}

var podKind = corev1.SchemeGroupVersion.WithKind("Pod")

var typed = flavour{
	"typed",
	func(schema.GroupVersionKind) client.Object { return &corev1.Pod{} },
	func(schema.GroupVersionKind) client.ObjectList { return &corev1.PodList{} },
}

var generic = flavour{
	"unstructured",
	func(k schema.GroupVersionKind) client.Object {
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(k)
		return o
	},
	func(k schema.GroupVersionKind) client.ObjectList {
		l := &unstructured.UnstructuredList{}
		l.SetGroupVersionKind(listOf(k))
		return l
	},
}

var metadataOnly = flavour{
	"metadata",
	func(k schema.GroupVersionKind) client.Object {
		o := &metav1.PartialObjectMetadata{}
		o.SetGroupVersionKind(k)
		return o
	},
	func(k schema.GroupVersionKind) client.ObjectList {
		l := &metav1.PartialObjectMetadataList{}
		l.SetGroupVersionKind(listOf(k))
		return l
	},
}

var flavours = []flavour{typed, generic, metadataOnly}

func listOf(k schema.GroupVersionKind) schema.GroupVersionKind {
	k.Kind += "List"
	return k
}

func (f flavour) pod() client.Object { return f.object(podKind) }

// get reads a pod from a cache.
func (f flavour) get(t *testing.T, c cache.Cache, namespace, name string, o ...client.GetOption) client.Object {
	t.Helper()
	pod := f.pod()
	require.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, pod, o...))
	return pod
}

// pods returns the sorted keys of the pods that a cache lists.
func (f flavour) pods(t *testing.T, c cache.Cache, o ...client.ListOption) []string {
	t.Helper()
	return keys(f.items(t, c, o...))
}

// items lists the pods in a cache.
func (f flavour) items(t *testing.T, c cache.Cache, o ...client.ListOption) []client.Object {
	t.Helper()
	list := f.list(podKind)
	require.NoError(t, c.List(t.Context(), list, o...))
	var items []client.Object
	extracted, err := meta.ExtractList(list)
	require.NoError(t, err)
	for _, item := range extracted {
		items = append(items, item.(client.Object))
	}
	return items
}

// has waits until the cache lists exactly the wanted pods.
func (f flavour) has(t *testing.T, c cache.Cache, want []string, o ...client.ListOption) {
	t.Helper()
	await(t, "the expected content of the cache", func() bool { return slices.Equal(f.pods(t, c, o...), want) })
}

func keys(objects []client.Object) []string {
	found := make([]string, 0, len(objects))
	for _, o := range objects {
		found = append(found, client.ObjectKeyFromObject(o).String())
	}
	slices.Sort(found)
	return found
}

// pod makes a pod with the label app. The node has the same name as the app.
func pod(namespace, name, app string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": app}},
		Spec:       corev1.PodSpec{NodeName: app, Containers: []corev1.Container{{Name: "c", Image: "registry.example/c"}}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

func node(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"name": name}}}
}

// A manager's informers have typed views, in each Go type that is used for a resource (D25).
func TestTypedViewsOfAManagersInformers(t *testing.T) {
	r := newRig(t, wired, informertest.Options{})
	r.create(t, pod("a", "one", "web"))
	c := r.started(t, cache.Options{})
	for _, f := range flavours {
		i := informerOf(t, c, f).(toolscache.SharedIndexInformer)
		held := map[string]int{typed.name: heldAs[*corev1.Pod](i), generic.name: heldAs[*unstructured.Unstructured](i), metadataOnly.name: heldAs[*metav1.PartialObjectMetadata](i)}
		want := map[string]int{typed.name: -1, generic.name: -1, metadataOnly.name: -1}
		want[f.name] = 1
		require.Equal(t, want, held, f.name)
	}
}

// heldAs returns the number of objects in an informer's typed view, or -1 if it has no view with this
// type.
func heldAs[T informer.Object](i toolscache.SharedIndexInformer) int {
	if view, ok := informer.As[T](i); ok {
		return view.Indexer().Len()
	}
	return -1
}
