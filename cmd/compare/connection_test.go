package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"
)

// A kind whose versions are not numbers is left out before the measurement, because its events cannot be
// counted.
func TestVersionsThatAreNoNumbers(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, metav1.AddMetaToScheme(scheme))
	client := fake.NewSimpleMetadataClient(scheme)
	client.PrependReactor("list", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, &metav1.List{ListMeta: metav1.ListMeta{ResourceVersion: "opaque"}}, nil
	})
	c := &connection{metadata: client}
	found, err := c.survey(t.Context(), []kind{{Name: "widgets", Resource: schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}}})
	require.NoError(t, err)
	require.Empty(t, found.Kinds)
	require.Len(t, found.LeftOut, 1)
	require.Contains(t, found.LeftOut[0].Reason, "the version of a list is not a number")
}
