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

func TestSame(t *testing.T) {
	a, b := new(metav1.PartialObjectMetadata), new(metav1.PartialObjectMetadata)
	uncomparable := []int{1}
	for _, row := range []struct {
		a, b any
		same bool
	}{
		{a, a, true},
		{a, b, false},
		{a, uncomparable, false},
		{uncomparable, a, false},
		{uncomparable, uncomparable, false},
		{1, 1, true},
		{nil, nil, false},
		{a, nil, false},
		{nil, a, false},
	} {
		require.Equal(t, row.same, Same(row.a, row.b), "%T and %T", row.a, row.b)
	}
	var x, y any = a, b
	require.Zero(t, testing.AllocsPerRun(100, func() { Same(x, y) }), "it is called for each object of a relist")
}
