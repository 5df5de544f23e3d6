package harness

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestBuiltInKindsAreStoredInProtobuf(t *testing.T) {
	pod := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "pod"}}
	value, err := encode(pod)
	require.NoError(t, err)
	require.Equal(t, "k8s\x00", string(value[:4]))
	got, err := runtime.Decode(storage, value)
	require.NoError(t, err)
	require.Equal(t, "pod", got.(*corev1.Pod).Name)
}

func TestCustomResourcesAreStoredAsJSON(t *testing.T) {
	value, err := encode(&unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget"}})
	require.NoError(t, err)
	require.JSONEq(t, `{"apiVersion":"example.com/v1","kind":"Widget"}`, string(value))
}
