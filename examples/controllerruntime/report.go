package main

import (
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/tidemark-k8s/tidemark/controllerruntime"
	"github.com/tidemark-k8s/tidemark/factory/debug"
	informermetrics "github.com/tidemark-k8s/tidemark/factory/metrics"
	"github.com/tidemark-k8s/tidemark/factory/readiness"
)

// report adds the informers to the manager's /readyz and /metrics, and serves /debug/informers
// beside the metrics. The caller must call end to unregister the metrics.
func report(m ctrl.Manager) (end func(), err error) {
	informers := controllerruntime.InformersOf(m).All()
	collector := informermetrics.New(informers)
	end = func() { metrics.Registry.Unregister(collector) }
	if err := metrics.Registry.Register(collector); err != nil {
		return func() {}, err
	}
	if err := m.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return end, err
	}
	if err := m.AddReadyzCheck("informers", readiness.New(readiness.Options{}, informers).Check); err != nil {
		return end, err
	}
	return end, m.AddMetricsServerExtraHandler("/debug/informers", debug.New(debug.Options{}, informers))
}
