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
	"github.com/tidemark-k8s/tidemark/reflector"
)

// counting is a program's informer around one of this module.
type counting struct {
	informer.Shared
	handlers int
}

func (c *counting) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	c.handlers++
	return c.Shared.AddEventHandler(h)
}

// Shutdown ends no program whose constructor returns its own type around an informer.
func TestShutdownOfAWrappedInformer(t *testing.T) {
	f := NewSharedInformerFactory(fake.NewClientset(), 0)
	f.InformerFor(&corev1.Pod{}, func(c kubernetes.Interface, _ time.Duration) cache.SharedIndexInformer {
		return &counting{Shared: informer.New(reflector.From(c.CoreV1().Pods("")), informer.Options[*corev1.Pod]{}).Shared().(informer.Shared)}
	})
	require.NotPanics(t, f.Shutdown)
}
