package sim_test

import (
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// In every fifth world, the program looks at the informer and its factory from within each callback. A look
// changes nothing and waits for nothing, so a seed gives the same trace with and without looks.

// onlookers are the callbacks that look.
var onlookers = []string{"observer", "transform", "index function", "handler", "request"}

// newOnlooker returns what the callbacks look at, nil in worlds without looks.
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
	}, "index function") // it is called in a write section, which lists wait for
	if l, ok := w.life.(*leasedInformer); ok {
		o.At(func() {
			for held := range l.factory.Informers() {
				_ = held.Status
			}
		})
	}
	return o
}

// look looks, from within a callback.
func (w *world) look(from string) {
	if w.onlooker != nil {
		w.onlooker.Look(from)
		w.reach("onlooker", from)
	}
}

// looking returns a transform that looks; nil without a transform.
func (w *world) looking(transform func(*pod) (*pod, error)) func(*pod) (*pod, error) {
	if transform == nil {
		return nil
	}
	return func(p *pod) (*pod, error) {
		w.look("transform")
		return transform(p)
	}
}
