package controllerruntime

import (
	"iter"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/factory/metrics"
)

// process collects the metrics of all managers, because controller-runtime has one registry for the
// process.
var process collector

// collector is a prometheus.Collector of informers.
type collector struct {
	registered sync.Once

	mu  sync.Mutex   // locked after that of an Informers
	all []*Informers // those with an informer that runs
}

// change adds the informers of a manager if one of them runs, and removes them otherwise.
func (c *collector) change(in *Informers, runs bool) {
	c.registered.Do(func() { ctrlmetrics.Registry.MustRegister(c) }) // it cannot fail without descriptions
	c.mu.Lock()
	defer c.mu.Unlock()

	c.all = slices.DeleteFunc(c.all, func(other *Informers) bool { return other == in })
	if runs {
		c.all = append(c.all, in)
	}
}

// Describe describes nothing, because the label of the cluster depends on the options.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect sends the current figures. Informers of one cluster share their series.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	clusters := map[string][]iter.Seq[factory.Held]{}
	c.mu.Lock()
	all := slices.Clone(c.all)
	c.mu.Unlock()
	for _, in := range all {
		clusters[in.settings.cluster] = append(clusters[in.settings.cluster], in.All())
	}
	for cluster, informers := range clusters {
		of := prometheus.Collector(metrics.New(informers...))
		if cluster != "" {
			of = prometheus.WrapCollectorWith(prometheus.Labels{"cluster": cluster}, of)
		}
		of.Collect(to)
	}
}
