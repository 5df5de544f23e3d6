package informer

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/shard"
)

// A manager's informers of the named kinds read a share. Typed examples are compared by their Go type, and unstructured
// ones and metadata alone by their kind as well.
func TestContract_D49_KindsOfAManager(t *testing.T) {
	untyped := func(kind string) runtime.Object {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: kind})
		return u
	}
	metadata := func(kind string) runtime.Object {
		return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "example.com/v1", Kind: kind}}
	}
	kinds := []runtime.Object{&corev1.Pod{}, untyped("Widget"), metadata("Gadget")}
	share := shard.Static(shard.Whole(shard.ByUID))
	for name, row := range map[string]struct {
		example runtime.Object
		shared  bool
	}{
		"a named type":                 {&corev1.Pod{}, true},
		"a named type, with its kind":  {&corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}, true},
		"another type":                 {&corev1.Secret{}, false},
		"a named kind, unstructured":   {untyped("Widget"), true},
		"another one, unstructured":    {untyped("Gadget"), false},
		"a named kind, metadata alone": {metadata("Gadget"), true},
		"another one, metadata alone":  {metadata("Widget"), false},
	} {
		t.Run(name, func(t *testing.T) {
			shared := func(c ControllerRuntime) bool {
				i := c.NewInformer(kit.ListerWatcher{Source: silentSource{}}, row.example, 0, nil)
				return i.(*clientgoInformer).core.options.Shard != nil
			}
			c := ControllerRuntime{}.WithShard(share, kinds[0], kinds[1:]...)
			require.Equal(t, row.shared, shared(c))
			require.False(t, shared(ControllerRuntime{}))
			require.False(t, shared(c.WithShard(nil, kinds[0], kinds[1:]...)), "named again")
			require.Equal(t, row.shared, shared(c), "a copy changes nothing")
		})
	}
}

// An informer of objects that may be of any kind is named after its kind: a log with many of them tells them apart.
func TestInformersAreNamedAfterTheirKinds(t *testing.T) {
	widget := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}
	loose, partial := &unstructured.Unstructured{}, &metav1.PartialObjectMetadata{}
	loose.SetGroupVersionKind(widget)
	partial.SetGroupVersionKind(widget)
	for example, name := range map[runtime.Object]string{
		&corev1.Pod{}: "*v1.Pod", loose: widget.String(), partial: widget.String(), &unstructured.Unstructured{}: "*unstructured.Unstructured",
	} {
		i, ok := SharedOf(ForControllerRuntime(&cache.ListWatch{}, example, 0, nil))
		require.True(t, ok)
		require.Equal(t, name, i.Status().Name)
	}
}

// A manager's informers of Secrets are not packed.
func TestAManagersSecretsAreNotPacked(t *testing.T) {
	secret := schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	loose, partial := &unstructured.Unstructured{}, &metav1.PartialObjectMetadata{}
	loose.SetGroupVersionKind(secret)
	partial.SetGroupVersionKind(secret)
	other := &unstructured.Unstructured{}
	other.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	made := ControllerRuntime{Storage: packedCold().Storage}
	for example, packs := range map[runtime.Object]bool{
		&corev1.Secret{}: false, loose: false, partial: false, &corev1.ConfigMap{}: true, other: true,
	} {
		i, ok := SharedOf(made.NewInformer(&cache.ListWatch{}, example, 0, nil))
		require.True(t, ok)
		require.Equal(t, packs, i.Status().Storage.Budget != nil, "%T", example)
	}
}
