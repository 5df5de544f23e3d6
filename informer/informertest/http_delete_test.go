package informertest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/metadata"
)

// All clients can delete collections, and send the options in any form.
func TestClientsDeleteCollections(t *testing.T) {
	s := startServer(t, Options{})
	ctx := t.Context()
	binary := s.ClientConfig()
	binary.ContentType, binary.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf
	ofX := metav1.ListOptions{LabelSelector: "app=x"}
	for name, clear := range map[string]func(metav1.DeleteOptions) error{
		"JSON": func(o metav1.DeleteOptions) error {
			return newClient(t, s.ClientConfig()).CoreV1().Pods("a").DeleteCollection(ctx, o, ofX)
		},
		"protobuf": func(o metav1.DeleteOptions) error {
			return newClient(t, binary).CoreV1().Pods("a").DeleteCollection(ctx, o, ofX)
		},
		"metadata": func(o metav1.DeleteOptions) error {
			client, err := metadata.NewForConfig(s.ClientConfig())
			require.NoError(t, err)
			return client.Resource(pods).Namespace("a").DeleteCollection(ctx, o, ofX)
		},
	} {
		t.Run(name, func(t *testing.T) {
			stays := newPod("a", "stays", "app", "y")
			require.NoError(t, s.Create(ctx, stays))
			require.NoError(t, s.Create(ctx, newPod("a", "goes", "app", "x")))
			require.NoError(t, s.Create(ctx, newPod("a", "goes-too", "app", "x")))

			require.NoError(t, clear(metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}))
			require.NoError(t, s.Get(ctx, "a", "goes", newPod("", "")))
			require.NoError(t, clear(metav1.DeleteOptions{}))
			left, err := newClient(t, s.ClientConfig()).CoreV1().Pods("").List(ctx, metav1.ListOptions{})
			require.NoError(t, err)
			require.Len(t, left.Items, 1)
			assert.Equal(t, "stays", left.Items[0].Name)
			require.NoError(t, s.Delete(ctx, stays))
		})
	}
	assert.Equal(t, map[string]int{"deletecollection": 6, "list": 3}, s.Counts())
}
