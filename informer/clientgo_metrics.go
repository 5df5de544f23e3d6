package informer

import (
	"fmt"
	"strconv"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
)

// metrics is what client-go measures of an informer. A nil one measures
// nothing.
type metrics struct {
	waiting cache.GaugeMetric     // deltas that wait for the processLoop
	latency cache.HistogramMetric // seconds that it took for one write section
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

// measuring returns the provider that an identifier's metrics come from, nil
// where there are to be none.
func measuring(id cache.InformerNameAndResource, provider cache.InformerMetricsProvider) cache.InformerMetricsProvider {
	switch {
	case !id.Reserved():
		return nil
	case provider == nil:
		return provided.get()
	}
	return provider
}

// provided is the process's provider. It is global since client-go's is, to
// which main functions hand theirs before anything else runs.
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

// SetInformerMetricsProvider sets where informers that are made later, and
// have an identifier, publish their metrics: this module's and client-go's own.
// The first call counts. A provider that was handed to client-go alone cannot be
// seen from here.
func SetInformerMetricsProvider(provider cache.InformerMetricsProvider) {
	cache.SetInformerMetricsProvider(provider)
	provided.mu.Lock()
	defer provided.mu.Unlock()

	if provided.provider == nil {
		provided.provider = provider
	}
}

// Measure makes an informer of this module publish metrics under an
// identifier, if that is reserved; with a nil provider to that of
// [SetInformerMetricsProvider]. It is what client-go's
// SharedIndexInformerOptions.Identifier does, for informers that come from
// elsewhere. It returns [ErrType] for an informer of another module, and
// [ErrRunning] or [ErrStopped] after Run.
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

// measures sets what is measured, nil for nothing.
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

// versionGauge publishes a store's resourceVersion. A nil one does not.
type versionGauge struct{ gauge cache.GaugeMetric }

func newVersionGauge(id cache.InformerNameAndResource, provider cache.InformerMetricsProvider) *versionGauge {
	provider = measuring(id, provider)
	if provider == nil {
		return nil
	}
	return &versionGauge{provider.NewStoreResourceVersionMetric(id)}
}

// exactDigits is how many digits a float64 holds exactly. Of longer versions
// the last ones are published, as client-go does.
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
