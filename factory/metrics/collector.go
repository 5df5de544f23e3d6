package metrics

import (
	"iter"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tidemark-k8s/tidemark/factory"
)

// Collector is a prometheus.Collector of informers. It is made by [New].
type Collector struct {
	of []iter.Seq[factory.Held]
}

var _ prometheus.Collector = (*Collector)(nil)

// New returns a collector of informers, such as those of [factory.InUse]. They are gone
// through anew at each scrape.
func New(of ...iter.Seq[factory.Held]) *Collector { return &Collector{of} }

// Describe tells which metrics there are.
func (c *Collector) Describe(to chan<- *prometheus.Desc) {
	for _, s := range all {
		to <- s.desc
	}
}

// Collect tells the numbers of now.
func (c *Collector) Collect(to chan<- prometheus.Metric) {
	f := newFold()
	for _, informers := range c.of {
		for held := range informers {
			f.add(identity{held.Resource, held.Scope.String()}, figuresOf(held))
		}
	}
	f.collect(to)
}

// collect tells the numbers.
func (f *fold) collect(to chan<- prometheus.Metric) {
	for _, id := range f.order {
		samples := f.figures[id].samples(labelsOf(id))
		for i := range samples {
			to <- &samples[i]
		}
	}
}
