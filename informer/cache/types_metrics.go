package cache

import (
	"k8s.io/client-go/tools/cache"
)

// InformerName is client-go's type of that name.
type InformerName = cache.InformerName

// InformerNameAndResource is client-go's type of that name.
type InformerNameAndResource = cache.InformerNameAndResource

// InformerMetricsProvider is client-go's type of that name.
type InformerMetricsProvider = cache.InformerMetricsProvider

// MetricsProvider is client-go's type of that name.
type MetricsProvider = cache.MetricsProvider

// GaugeMetric is client-go's type of that name.
type GaugeMetric = cache.GaugeMetric

// CounterMetric is client-go's type of that name.
type CounterMetric = cache.CounterMetric

// SummaryMetric is client-go's type of that name.
type SummaryMetric = cache.SummaryMetric

// HistogramMetric is client-go's type of that name.
type HistogramMetric = cache.HistogramMetric
