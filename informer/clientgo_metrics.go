package informer

import (
	"fmt"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer/internal/clientgostore"
)

// clientgoMetrics publishes client-go's metrics of an informer. A nil one publishes nothing.
type clientgoMetrics struct {
	waiting cache.GaugeMetric     // number of deltas waiting for the processLoop
	latency cache.HistogramMetric // duration of a write section, in seconds
	version *clientgostore.Gauge
}

func newMetrics(id cache.InformerNameAndResource, provider cache.InformerMetricsProvider) *clientgoMetrics {
	provider = measuring(id, provider)
	if provider == nil {
		return nil
	}
	return &clientgoMetrics{
		waiting: provider.NewQueuedItemMetric(id),
		latency: provider.NewProcessingLatencyMetric(id),
		version: newVersionGauge(id, provider),
	}
}

// ofStore returns the gauge of the store's version.
func (m *clientgoMetrics) ofStore() *clientgostore.Gauge {
	if m == nil {
		return nil
	}
	return m.version
}

// measuring returns the provider of an identifier's metrics, or nil if they are off.
func measuring(id cache.InformerNameAndResource, provider cache.InformerMetricsProvider) cache.InformerMetricsProvider {
	switch {
	case !id.Reserved():
		return nil
	case provider == nil:
		if p := provided.Load(); p != nil {
			return *p
		}
	}
	return provider
}

// provided is the process's provider. It is global, as in client-go: main sets it before anything else runs.
var provided atomic.Pointer[cache.InformerMetricsProvider]

// SetInformerMetricsProvider sets the provider of metrics for informers of this module and of client-go that
// are made later with an identifier. Only the first call counts. This module does not see a provider that was
// passed to client-go's function of this name.
func SetInformerMetricsProvider(provider cache.InformerMetricsProvider) {
	cache.SetInformerMetricsProvider(provider)
	if provider != nil {
		provided.CompareAndSwap(nil, &provider)
	}
}

// SetMetrics makes an informer of this module publish metrics under a reserved identifier. A nil provider
// stands for that of [SetInformerMetricsProvider]. SetMetrics is for informers that a factory made, where
// client-go's SharedIndexInformerOptions.Identifier cannot be set. It returns [ErrType] for an informer of
// another module, and [ErrRunning] or [ErrStopped] after Run.
func SetMetrics(i cache.SharedIndexInformer, id cache.InformerNameAndResource, provider cache.InformerMetricsProvider) error {
	ours, ok := unwrapped(i).(interface {
		setMetrics(id cache.InformerNameAndResource, provider cache.InformerMetricsProvider) error
	})
	if !ok {
		return fmt.Errorf("%w: want an informer of this module, got %T", ErrType, i)
	}
	return ours.setMetrics(id, provider)
}

func (i *clientgoInformer) setMetrics(id cache.InformerNameAndResource, provider cache.InformerMetricsProvider) error {
	return i.core.BeforeRun("SetMetrics", func() { i.publish(newMetrics(id, provider)) })
}

// publish sets the metrics of an informer; nil for none.
func (i *clientgoInformer) publish(m *clientgoMetrics) {
	if m == nil {
		i.core.Measure(nil)
	} else {
		i.core.Measure(m)
	}
	i.store.Gauge.Store(m.ofStore())
}

func (m *clientgoMetrics) Queued(deltas int) { m.waiting.Set(float64(deltas)) }

func (m *clientgoMetrics) Applied(took time.Duration, version string) {
	m.latency.Observe(took.Seconds())
	m.version.Set(version)
}

// newVersionGauge returns the gauge of a store's version; nil if metrics are off.
func newVersionGauge(id cache.InformerNameAndResource, provider cache.InformerMetricsProvider) *clientgostore.Gauge {
	provider = measuring(id, provider)
	if provider == nil {
		return nil
	}
	return clientgostore.NewGauge(provider.NewStoreResourceVersionMetric(id))
}
