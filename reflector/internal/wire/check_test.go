package wire

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// A program with self-checks compares objects with any apiVersion, also if the list has the apiVersion.
func TestDecodeAsClient_AnyAPIVersion(t *testing.T) {
	for _, version := range []string{"", "v1", "/v1", "a/v1", "a/b/c"} {
		typed := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: version}}
		untyped := &unstructured.Unstructured{Object: map[string]any{"kind": "Pod", "apiVersion": version}}
		body := fmt.Sprintf(`{"kind":"Pod","apiVersion":%q}`, version)
		for _, like := range []runtime.Object{typed, untyped} {
			got, err := decodeAsClient(item{data: []byte(body), format: formatJSON}, like)
			require.NoError(t, err)
			require.Equal(t, like, got)
		}
		got, err := decodeAsClient(item{data: []byte(`{}`), format: formatJSON}, untyped)
		require.NoError(t, err)
		require.Equal(t, untyped, got)
	}
}
