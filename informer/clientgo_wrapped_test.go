package informer

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// client-go's accessors wrap informers in typed views. As, SharedOf and Measure accept an informer
// of this module in such a view too, and refuse all other informers and wrappers.
func TestTypedViewsOfClientGo(t *testing.T) {
	i := New(sourceOf(newScript("1")), Options[*corev1.Pod]{})
	wrapped := cache.NewTypedSharedIndexInformer[*corev1.Pod](i.Shared())
	twice := cache.NewTypedSharedIndexInformer[*corev1.Pod](wrapped)
	for _, v := range []cache.SharedIndexInformer{i.Shared(), wrapped, twice} {
		mine, ok := As[*corev1.Pod](v)
		require.True(t, ok)
		require.Same(t, i, mine)
		_, ok = As[*corev1.Node](v)
		require.False(t, ok)
		ours, ok := SharedOf(v)
		require.True(t, ok)
		require.Same(t, i.Shared(), ours)
		require.NoError(t, SetMetrics(v, cache.InformerNameAndResource{}, nil))
	}

	theirs := cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.Pod{}, 0, nil)
	for name, v := range map[string]cache.SharedIndexInformer{
		"nil":                      nil,
		"client-go's":              theirs,
		"client-go's in a view":    cache.NewTypedSharedIndexInformer[*corev1.Pod](theirs),
		"nothing in a view":        cache.NewTypedSharedIndexInformer[*corev1.Pod](nil),
		"somebody else's wrapping": struct{ cache.SharedIndexInformer }{i.Shared()},
	} {
		_, ok := As[*corev1.Pod](v)
		require.False(t, ok, name)
		_, ok = SharedOf(v)
		require.False(t, ok, name)
		require.ErrorIs(t, SetMetrics(v, cache.InformerNameAndResource{}, nil), ErrType, name)
	}
}
