package factory

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
)

// The accessors, wrapped by client-go's generated code, return the informer of For.
func TestAccessorsReturnInformersOfThisModule(t *testing.T) {
	f := NewSharedInformerFactory(fake.NewClientset(), 0)
	mine, err := For[*corev1.Pod](f)
	require.NoError(t, err)
	for _, shown := range []cache.SharedIndexInformer{f.Core().V1().Pods().Informer(), f.Core().V1().Pods().TypedInformer()} {
		again, ok := informer.As[*corev1.Pod](shown)
		require.True(t, ok)
		require.Same(t, mine, again)
		require.NoError(t, informer.SetMetrics(shown, cache.InformerNameAndResource{}, nil))
	}
}

// An informer made by a user's constructor may be wrapped, too.
func TestConstructorsMayWrap(t *testing.T) {
	f := NewSharedInformerFactory(fake.NewClientset(), 0)
	shown := f.InformerFor(&corev1.Pod{}, func(c kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		return cache.NewTypedSharedIndexInformer[*corev1.Pod](NewFilteredInformer[*corev1.Pod](c, "prod", resync, nil, nil))
	})
	mine, err := For[*corev1.Pod](f)
	require.NoError(t, err)
	require.Same(t, shown.GetIndexer(), mine.Shared().GetIndexer())
}
