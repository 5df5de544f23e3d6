package controllerruntime

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tidemark-k8s/tidemark/indexer/refs"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/shard"
)

func untyped(kind schema.GroupVersionKind) client.Object {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind)
	return u
}

func metadata(kind schema.GroupVersionKind) client.Object {
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(kind)
	return m
}

func widget(kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: kind}
}

// A manager's informers of the named kinds read a share. Typed examples are compared by their Go type, and unstructured
// ones and metadata alone by their kind as well.
func TestContract_D49_KindsOfAManager(t *testing.T) {
	share := shard.Static(shard.Whole(shard.ByUID))
	named := []client.Object{untyped(widget("Widget")), metadata(widget("Gadget"))}
	for name, row := range map[string]struct {
		example client.Object
		shared  bool
	}{
		"a named type":                 {&corev1.Pod{}, true},
		"a named type, with its kind":  {&corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}, true},
		"another type":                 {&corev1.Secret{}, false},
		"a named kind, unstructured":   {untyped(widget("Widget")), true},
		"another one, unstructured":    {untyped(widget("Gadget")), false},
		"a named kind, metadata alone": {metadata(widget("Gadget")), true},
		"another one, metadata alone":  {metadata(widget("Widget")), false},
	} {
		t.Run(name, func(t *testing.T) {
			shared := func(more ...Option) bool {
				s := settingsOf(more)
				return s.optionsOf(row.example).Shard != nil
			}
			require.False(t, shared())
			require.Equal(t, row.shared, shared(Shard(share, &corev1.Pod{}, named...)))
			require.False(t, shared(Shard(share, &corev1.Pod{}, named...), Shard(nil, &corev1.Pod{}, named...)), "named again")
		})
	}
}

// Options of one kind add up, and leave other kinds alone.
func TestOptionsOfKinds(t *testing.T) {
	s := settingsOf([]Option{
		Drop(&corev1.Pod{}, "status"), Drop(&corev1.Pod{}, "spec.volumes", "spec.tolerations"),
		LabelIndexes(&corev1.Pod{}, "app"), LabelIndexes(&corev1.Secret{}, "team"),
		Indexes(&corev1.Pod{}, refs.ByOwner[*corev1.Pod]()), PageSize(500),
	})
	for range 2 { // asking changes nothing
		pods := s.optionsOf(&corev1.Pod{})
		require.Equal(t, []string{"status", "spec.volumes", "spec.tolerations"}, pods.Drop)
		require.Equal(t, []string{"app"}, pods.LabelIndexes)
		require.Len(t, pods.Indexes, 1)
		require.EqualValues(t, 500, pods.PageSize)
		secrets := s.optionsOf(&corev1.Secret{})
		require.Empty(t, secrets.Drop)
		require.Equal(t, []string{"team"}, secrets.LabelIndexes)
		require.EqualValues(t, 500, secrets.PageSize)
	}
}

// A manager's informers of Secrets are not packed, whatever form they have.
func TestSecretsAreNotPacked(t *testing.T) {
	secret := corev1.SchemeGroupVersion.WithKind("Secret")
	s := settingsOf([]Option{Storage(informer.Storage{Decoded: informer.NewBudget(0)})})
	for example, packs := range map[client.Object]bool{
		&corev1.Secret{}: false, untyped(secret): false, metadata(secret): false,
		&corev1.ConfigMap{}: true, untyped(corev1.SchemeGroupVersion.WithKind("ConfigMap")): true,
	} {
		require.Equal(t, packs, s.optionsOf(example).Storage.Decoded != nil, "%T", example)
	}
}

// The options of a kind reach its informer: what is dropped is not in the cache, and the indexes answer.
func TestOptionsReachTheInformers(t *testing.T) {
	s := newServer(t)
	pod := newPod("a", "one")
	pod.Spec.NodeName = "n1"
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "u1"}}
	require.NoError(t, s.Create(t.Context(), pod))
	m, err := NewManager(s.ClientConfig(), quiet(), Drop(&corev1.Pod{}, "spec"), LabelIndexes(&corev1.Pod{}, "app"),
		Indexes(&corev1.Pod{}, refs.ByOwner[*corev1.Pod]()), Storage(informer.Storage{Decoded: informer.NewBudget(1 << 20)}))
	require.NoError(t, err)
	runs(t, m)
	var got corev1.Pod
	require.NoError(t, m.GetClient().Get(t.Context(), client.ObjectKeyFromObject(pod), &got))
	require.Empty(t, got.Spec.NodeName)
	require.Equal(t, pod.UID, got.UID)

	for held := range InformersOf(m).All() {
		pods, ok := informer.As[*corev1.Pod](held.Informer)
		require.True(t, ok)
		owned, err := pods.Indexer().FindKeys(refs.OwnedBy(&metav1.ObjectMeta{UID: "u1"}))
		require.NoError(t, err)
		require.Len(t, owned, 1)
		require.Len(t, pods.Inspector().LabelIndexes(), 1)
		require.NotNil(t, held.Status.Storage.Budget)
	}
}
