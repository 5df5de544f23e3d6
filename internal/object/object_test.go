package object

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestWhatIsLikeAnExample(t *testing.T) {
	widget := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(widget)
	for _, c := range []struct {
		example any
		goType  reflect.Type
		kind    schema.GroupVersionKind
	}{
		{u, reflect.TypeFor[*unstructured.Unstructured](), widget},
		{&unstructured.Unstructured{}, reflect.TypeFor[*unstructured.Unstructured](), schema.GroupVersionKind{}},
		{&corev1.Pod{}, reflect.TypeFor[*corev1.Pod](), schema.GroupVersionKind{}},
		{nil, nil, schema.GroupVersionKind{}},
	} {
		goType, kind := Like(c.example)
		require.Equal(t, c.goType, goType)
		require.Equal(t, c.kind, kind)
	}
}

func TestIsSecrets(t *testing.T) {
	for resource, secrets := range map[schema.GroupResource]bool{
		{Resource: "secrets"}: true, {Resource: "pods"}: false, {Group: "vault.example.com", Resource: "secrets"}: false, {}: false,
	} {
		require.Equal(t, secrets, IsSecrets(resource), resource)
	}
}

func TestHoldsSecrets(t *testing.T) {
	secret := schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	u, partial := &unstructured.Unstructured{}, &metav1.PartialObjectMetadata{}
	require.False(t, HoldsSecrets(u))
	u.SetGroupVersionKind(secret)
	partial.SetGroupVersionKind(secret)
	for example, secrets := range map[runtime.Object]bool{u: true, partial: true, &corev1.Secret{}: true, &corev1.Pod{}: false, nil: false} {
		require.Equal(t, secrets, HoldsSecrets(example), "%T", example)
	}
}
