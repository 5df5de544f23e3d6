package clientgostore

import (
	"strconv"

	"k8s.io/client-go/tools/cache"
)

// Gauge publishes a store's resourceVersion. A nil Gauge publishes nothing.
type Gauge struct{ gauge cache.GaugeMetric }

// NewGauge returns a gauge that publishes to a metric.
func NewGauge(metric cache.GaugeMetric) *Gauge { return &Gauge{metric} }

// exactDigits is the number of digits that a float64 holds exactly. For a longer version, only the last
// digits are published, as in client-go.
const exactDigits = 15

// Set publishes a version.
func (g *Gauge) Set(version string) {
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
