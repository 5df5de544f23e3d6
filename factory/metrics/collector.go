package metrics

import (
	"iter"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/factory/internal/show"
)

// Collector is a prometheus.Collector of informers. Use [New] to make one.
type Collector struct {
	informers []iter.Seq[factory.Held]
}

var _ prometheus.Collector = (*Collector)(nil)

// New returns a collector of informers, such as those that a factory's Informers returns. Each scrape reads
// the sequences again.
func New(informers ...iter.Seq[factory.Held]) *Collector { return &Collector{informers} }

// Describe sends the descriptions of all metrics.
func (c *Collector) Describe(to chan<- *prometheus.Desc) {
	for _, s := range all {
		to <- s.desc
	}
}

// Collect sends the current figures.
func (c *Collector) Collect(to chan<- prometheus.Metric) {
	a := newAggregate()
	for _, informers := range c.informers {
		for held := range informers {
			a.of(identity{held.Resource, show.WithoutNames(held).Scope.String()}).addInformer(held.Status, measuresOf(held))
		}
	}
	a.collect(to)
}

// measuresOf returns the measurements of an informer. There are none for an informer of another module.
func measuresOf(h factory.Held) (m measures) {
	if i := h.Inspector(); i != nil {
		m.memory, m.handlers = i.Memory(), i.Handlers()
		m.decoded, m.decoding = i.Decoding()
	}
	return m
}

// collect sends the samples.
func (a *aggregate) collect(to chan<- prometheus.Metric) {
	for _, s := range a.samples {
		s.collect(to)
	}
}
