package sim_test

import (
	"slices"
	"sync"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// During a burst of changes, goroutines read the objects in all ways, one after another, as fast as they
// can. A goroutine must never see an older object than in an earlier read.

// The number of readers and the number of rounds of each reader. These are fixed, because the scheduler
// decides when changes are applied.
const (
	readers    = 2
	readRounds = 150
)

// readDuring reads objects while do runs.
func (w *world) readDuring(do func()) {
	var reading sync.WaitGroup
	defer reading.Wait()
	if w.informer != nil && w.zones == 0 { // otherwise the store itself may go back to the object of another source
		for range readers {
			reading.Go(func() { newReader(w).run() })
		}
	}
	do()
}

// reader is what a goroutine knows about the objects from its earlier reads.
type reader struct {
	w    *world
	seen map[key]mark // the newest version of each object
	gone map[key]bool // objects that a later read has not found
	kept []*pod       // the list that the mutant returns
}

func newReader(w *world) *reader { return &reader{w: w, seen: map[key]mark{}, gone: map[key]bool{}} }

func (r *reader) run() {
	x := r.w.informer.Indexer()
	for range readRounds {
		for k := range r.seen {
			p, ok := x.Get(k)
			if !ok {
				r.gone[k] = true
				continue
			}
			r.found("Get", p)
			r.under(x, k, p.Spec.NodeName)
		}
		r.list(slices.Collect(x.All()))
	}
}

// under reads an index value that a read has just shown for an object. If the object is no longer there,
// that version is over.
func (r *reader) under(x *indexer.Indexer[*pod], k key, node string) {
	for p := range x.By("node", node) {
		if keyOf(p) == k {
			r.found("an index", p)
			return
		}
	}
	m := r.seen[k]
	r.seen[k] = mark{m.epoch, m.serial + 1}
}

// list records a list of all objects.
func (r *reader) list(all []*pod) {
	if r.kept == nil {
		r.kept = all
	}
	if r.w.mutant.staleLists {
		all = r.kept
	}
	held := map[key]bool{}
	for _, p := range all {
		held[keyOf(p)] = true
		r.found("a list", p)
	}
	for k := range r.seen {
		r.gone[k] = r.gone[k] || !held[k]
	}
}

// found records an object that a read has returned.
func (r *reader) found(by string, p *pod) {
	k, m := keyOf(p), markOf(p)
	switch {
	case m.before(r.seen[k]) && m.epoch != handEpoch:
		r.w.fault("reads", "%s shows %s after a read that showed %v", by, spell(p), r.seen[k])
	case r.gone[k] && m == r.seen[k]:
		r.w.fault("reads", "%s shows %s after a read that did not find it", by, spell(p))
	}
	r.seen[k], r.gone[k] = m, false
}
