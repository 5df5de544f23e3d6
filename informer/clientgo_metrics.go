package informer

import (
	"fmt"
	"strconv"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
)

// metrics publishes client-go's measurements of an informer. A nil one publishes nothing.
type metrics struct {
	waiting cache.GaugeMetric     // number of deltas waiting for the processLoop
	latency cache.HistogramMetric // duration of a write section, in seconds
	version *versionGauge
}

func newMetrics(id cache.InformerNameAndResource, provider cache.InformerMetricsProvider) *metrics {
	provider = measuring(id, provider)
	if provider == nil {
		return nil
	}
	return &metrics{
		waiting: provider.NewQueuedItemMetric(id),
		latency: provider.NewProcessingLatencyMetric(id),
		version: newVersionGauge(id, provider),
	}
}

// ofStore returns the gauge of the store's version.
func (m *metrics) ofStore() *versionGauge {
	if m == nil {
		return nil
	}
	return m.version
}

// measuring returns the provider of an identifier's metrics, nil if there are to be none.
func measuring(id cache.InformerNameAndResource, provider cache.InformerMetricsProvider) cache.InformerMetricsProvider {
	switch {
	case !id.Reserved():
		return nil
	case provider == nil:
		return provided.get()
	}
	return provider
}

// provided is the process's provider. It is global because client-go's is: main functions set
// theirs before anything else runs.
var provided globalProvider

type globalProvider struct {
	mu       sync.Mutex
	provider cache.InformerMetricsProvider
}

func (g *globalProvider) get() cache.InformerMetricsProvider {
	g.mu.Lock()
	defer g.mu.Unlock()

	return g.provider
}

// SetInformerMetricsProvider sets the provider of metrics for informers made later with an
// identifier: this module's and client-go's own. Only the first call counts. This module cannot see
// a provider that was given to client-go alone.
func SetInformerMetricsProvider(provider cache.InformerMetricsProvider) {
	cache.SetInformerMetricsProvider(provider)
	provided.mu.Lock()
	defer provided.mu.Unlock()

	if provided.provider == nil {
		provided.provider = provider
	}
}

// Measure makes an informer of this module publish metrics under a reserved identifier; a nil
// provider stands for that of [SetInformerMetricsProvider]. It does the work of client-go's
// SharedIndexInformerOptions.Identifier for informers made by a factory, say. It returns [ErrType]
// for an informer of another module, and [ErrRunning] or [ErrStopped] after Run.
func Measure(i cache.SharedIndexInformer, id cache.InformerNameAndResource, provider cache.InformerMetricsProvider) error {
	ours, ok := unwrapped(i).(interface {
		measure(id cache.InformerNameAndResource, provider cache.InformerMetricsProvider) error
	})
	if !ok {
		return fmt.Errorf("%w: want an informer of this module, got %T", ErrType, i)
	}
	return ours.measure(id, provider)
}

func (i *clientgoInformer) measure(id cache.InformerNameAndResource, provider cache.InformerMetricsProvider) error {
	i.core.mu.Lock()
	defer i.core.mu.Unlock()

	switch i.core.phase {
	case running:
		return fmt.Errorf("informer %s: metrics are set before Run: %w", i.core.options.Name, ErrRunning)
	case stopped:
		return fmt.Errorf("informer %s: %w", i.core.options.Name, ErrStopped)
	}
	i.measures(newMetrics(id, provider))
	return nil
}

// measures sets the metrics of an informer, nil for none.
func (i *clientgoInformer) measures(m *metrics) {
	i.core.hooks.meter = nil
	if m != nil {
		i.core.hooks.meter = m
	}
	i.store.gauge.Store(m.ofStore())
}

func (m *metrics) queued(deltas int) { m.waiting.Set(float64(deltas)) }

func (m *metrics) applied(took time.Duration, version string) {
	m.latency.Observe(took.Seconds())
	m.version.set(version)
}

// versionGauge publishes a store's resourceVersion. A nil one publishes nothing.
type versionGauge struct{ gauge cache.GaugeMetric }

func newVersionGauge(id cache.InformerNameAndResource, provider cache.InformerMetricsProvider) *versionGauge {
	provider = measuring(id, provider)
	if provider == nil {
		return nil
	}
	return &versionGauge{provider.NewStoreResourceVersionMetric(id)}
}

// exactDigits is the number of digits that a float64 holds exactly. Of a longer version only the
// last digits are published, as in client-go.
const exactDigits = 15

func (g *versionGauge) set(version string) {
	switch {
	case g == nil:
		return
	case version == "":
		version = "0"
	}
	version = version[max(0, len(version)-exactDigits):]
	if n, err := strconv.ParseInt(version, 10, 64); err == nil {
		g.gauge.Set(float64(n))
	}
}
