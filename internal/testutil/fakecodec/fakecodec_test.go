package fakecodec

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestItCountsAndHidesObjects(t *testing.T) {
	var c Codec
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "a", UID: "u", ResourceVersion: "1", Labels: map[string]string{"k": "v"}}}
	stored := c.Encode(pod)
	_, is := stored.(metav1.Object)
	require.False(t, is)
	m := stored.(metav1.ObjectMetaAccessor).GetObjectMeta()
	require.Equal(t, "n/a", m.GetNamespace()+"/"+m.GetName())
	require.Equal(t, "u/1", string(m.GetUID())+"/"+m.GetResourceVersion())
	require.Equal(t, "v", m.GetLabels()["k"])
	require.Panics(t, func() { m.GetAnnotations() })
	require.Zero(t, c.Decoded())
	require.Same(t, pod, c.Decode(stored))
	require.Equal(t, 1, c.Decoded())
	require.Zero(t, c.Decoded())
	require.Panics(t, func() { c.Decode(pod) })
	require.Same(t, stored, c.Encode(stored))
	require.Equal(t, 1, c.Encoded())

	for _, without := range []any{nil, 7, (*corev1.Pod)(nil)} {
		stored := c.Encode(without)
		require.Nil(t, stored.(metav1.ObjectMetaAccessor).GetObjectMeta())
		require.Equal(t, without, c.Decode(stored))
	}
}
