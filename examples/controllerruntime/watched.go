package main

import (
	"iter"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/factory/debug"
	informermetrics "github.com/tidemark-k8s/tidemark/factory/metrics"
	"github.com/tidemark-k8s/tidemark/factory/readiness"
	"github.com/tidemark-k8s/tidemark/informer"
)

// watched is the list of the informers of a manager's cache, for the probe, the metrics and the
// debug page.
type watched struct {
	scheme *runtime.Scheme
	made   informer.ControllerRuntime // what makes the informers

	mu  sync.Mutex
	all []iter.Seq[factory.Held]
}

// newInformer is the cache's NewInformer. It adds the informer to the list.
func (w *watched) newInformer(lw toolscache.ListerWatcher, example runtime.Object, resync time.Duration, ix toolscache.Indexers) toolscache.SharedIndexInformer {
	i := w.made.NewInformer(lw, example, resync, ix)
	if kind, err := apiutil.GVKForObject(example, w.scheme); err == nil {
		resource, _ := meta.UnsafeGuessKindToResource(kind) // only for display
		w.mu.Lock()
		defer w.mu.Unlock()
		w.all = append(w.all, factory.Alone(resource, factory.Scope{}, i))
	}
	return i
}

// informers yields the informers that exist when the loop begins.
func (w *watched) informers(yield func(factory.Held) bool) {
	w.mu.Lock()
	all := slices.Clone(w.all)
	w.mu.Unlock()
	for _, one := range all {
		for held := range one {
			if !yield(held) {
				return
			}
		}
	}
}

// report adds the informers to the manager's /readyz and /metrics, and serves /debug/informers
// beside the metrics. The caller must call end to unregister the metrics.
func (w *watched) report(m ctrl.Manager) (end func(), err error) {
	collector := informermetrics.New(w.informers)
	end = func() { metrics.Registry.Unregister(collector) }
	if err := metrics.Registry.Register(collector); err != nil {
		return func() {}, err
	}
	if err := m.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return end, err
	}
	if err := m.AddReadyzCheck("informers", readiness.New(readiness.Options{}, w.informers).Check); err != nil {
		return end, err
	}
	return end, m.AddMetricsServerExtraHandler("/debug/informers", debug.New(debug.Options{}, w.informers))
}
