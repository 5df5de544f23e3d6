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
)

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
