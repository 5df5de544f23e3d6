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

// New returns a collector of informers, such as those of a factory (Informers). Each scrape reads the
// sequences anew.
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
			a.add(identity{held.Resource, show.WithoutNames(held).Scope.String()}, figuresOf(held))
		}
	}
	a.collect(to)
}

// collect sends the figures.
func (a *aggregate) collect(to chan<- prometheus.Metric) {
	for _, id := range a.order {
		samples := a.figures[id].samples(labelsOf(id))
		for i := range samples {
			to <- &samples[i]
		}
	}
}
