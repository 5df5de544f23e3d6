package factory

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
)

// The informers of a factory with a name publish metrics under it. If two factories have the same
// name, the first one publishes.
func TestContract_B111_InformerName(t *testing.T) {
	name, err := cache.NewInformerName("TestContract_B111")
	require.NoError(t, err)
	defer name.Release()
	published := publishedUnder(t, name)
	for range 2 {
		f := NewSharedInformerFactoryWithOptions(fake.NewClientset(), 0, WithInformerName(name))
		f.Core().V1().Pods().Informer()
		f.Core().V1().Pods().Informer()
		f.Core().V1().Nodes().Informer()
	}
	NewSharedInformerFactory(fake.NewClientset(), 0).Core().V1().Services().Informer()
	require.Equal(t, map[string]int{"pods": 1, "nodes": 1}, published())
	require.False(t, name.WithResource(corev1.SchemeGroupVersion.WithResource("pods")).Reserved())
}

// allPublished is the provider of all tests here, because a process has only one.
var allPublished = sync.OnceValue(func() published {
	p := make(published)
	informer.SetInformerMetricsProvider(p)
	return p
})

// publishedUnder returns the metrics published under a name since the test began, by resource.
func publishedUnder(t *testing.T, name *cache.InformerName) func() map[string]int {
	all := allPublished()
	t.Cleanup(func() { delete(all, name.Name()) })
	return func() map[string]int { return all[name.Name()] }
}

// published counts the queues that publish their length, by informer name and resource.
type published map[string]map[string]int

func (p published) NewQueuedItemMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	if p[id.Name()] == nil {
		p[id.Name()] = make(map[string]int)
	}
	p[id.Name()][id.GroupVersionResource().Resource]++
	return unread{}
}

func (published) NewProcessingLatencyMetric(cache.InformerNameAndResource) cache.HistogramMetric {
	return unread{}
}

func (published) NewStoreResourceVersionMetric(cache.InformerNameAndResource) cache.GaugeMetric {
	return unread{}
}

// unread is a metric whose value is not read.
type unread struct{}

func (unread) Set(float64) {}

func (unread) Observe(float64) {}
