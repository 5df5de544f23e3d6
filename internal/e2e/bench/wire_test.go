package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Pages and stream are the same state, made anew for each who asks.
func TestWireSendsItsStateInPagesAndInAStream(t *testing.T) {
	const n = 2*pageSize + 1
	w := newWire(populate(n), false)
	for range 2 {
		var paged []corev1.Pod
		for o := (metav1.ListOptions{}); ; {
			list, err := w.List(t.Context(), o)
			require.NoError(t, err)
			page := list.(*corev1.PodList)
			require.LessOrEqual(t, len(page.Items), pageSize)
			paged = append(paged, page.Items...)
			if o.Continue = page.Continue; o.Continue == "" {
				break
			}
		}
		opened, err := w.Watch(t.Context(), metav1.ListOptions{SendInitialEvents: new(true)})
		require.NoError(t, err)
		newer := 0
		for i := range paged {
			streamed := (<-opened.ResultChan()).Object.(*corev1.Pod)
			require.Equal(t, &paged[i], streamed)
			require.NotSame(t, &paged[i], streamed)
			if streamed.ResourceVersion != version(i) {
				newer++
			}
		}
		end := (<-opened.ResultChan()).Object.(*corev1.Pod)
		require.Equal(t, w.version(), end.ResourceVersion)
		require.Contains(t, end.Annotations, metav1.InitialEventsAnnotationKey)
		require.Len(t, paged, n)
		if w.second.Swap(true) {
			require.Equal(t, w.changed(), newer)
		} else {
			require.Zero(t, newer)
		}
	}
}
