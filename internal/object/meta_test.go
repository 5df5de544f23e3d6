package object

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// accessor has metadata, but not its methods.
type accessor struct{ meta metav1.Object }

func (a accessor) GetObjectMeta() metav1.Object { return a.meta }

func TestMetaOfAnything(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "a"}}
	require.Same(t, pod, Meta(pod))
	require.Same(t, pod, Meta(accessor{pod}))
	require.Same(t, &pod.ObjectMeta, Meta(&pod.ObjectMeta), "listers pass only the metadata")
	require.Equal(t, indexer.Key{Namespace: "n", Name: "a"}, Key(Meta(pod)))
	for _, without := range []any{nil, "pod", 1, &corev1.PodList{}} {
		require.Nil(t, Meta(without))
	}
}
