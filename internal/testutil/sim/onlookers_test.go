package sim_test

import (
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// In every fifth world, the program reads the informer and its factory within each callback. Reading
// changes nothing and does not block, so that a seed gives the same trace with and without it.

// onlookers are the callbacks that call Look.
var onlookers = []string{"observer", "transform", "index function", "handler", "request"}

// newOnlooker returns what the callbacks call. It returns nil if they call nothing.
func (w *world) newOnlooker() *kit.Onlooker {
	if w.plan.seed%5 != 2 || w.script || w.tenants || w.mutant.looksAway {
		return nil
	}
	o := &kit.Onlooker{}
	o.At(func() {
		if i := w.shown.Load(); i != nil {
			i.Status()
			i.Indexer().Get(indexer.Key{Namespace: namespaceOf(0), Name: "o0"})
			kit.Closed(i.Synced())
		}
	})
	o.At(func() {
		if i := w.shown.Load(); i != nil {
			i.Indexer().Snapshot()
			_, _ = i.Indexer().Lookup("node", "n1")
		}
	}, "index function") // an index function is called in a write section, which lists wait for
	if l, ok := w.life.(*leasedInformer); ok {
		o.At(func() {
			for held := range l.factory.Informers() {
				_ = held.Status
			}
		})
	}
	return o
}

// look calls Look within a callback.
func (w *world) look(from string) {
	if w.onlooker != nil {
		w.onlooker.Look(from)
		w.reach("onlooker", from)
	}
}

// looking returns a transform that calls Look, or nil if there is no transform.
func (w *world) looking(transform func(*pod) (*pod, error)) func(*pod) (*pod, error) {
	if transform == nil {
		return nil
	}
	return func(p *pod) (*pod, error) {
		w.look("transform")
		return transform(p)
	}
}
