package sim_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
)

// A user writes into the store by hand, through client-go's API, whatever the informer
// is doing. Handlers are told nothing of it: what they are told next of that key starts
// from what the user has left there. The next full states put everything right.

// userWrite is one write of a user: what was stored under a key, and what is since.
type userWrite struct{ was, is *pod }

// handEpoch is the history of what only a user has made up.
const handEpoch = 0

// handLabel is on the objects of the server that a user has written.
const handLabel = "hand"

// writeByHand lets a user write n times.
func (w *world) writeByHand(r *rand.Rand, n int) {
	if w.blank {
		return // no list would ever put it right
	}
	w.reach("operation", writeByHand)
	slowly := r.IntN(3) == 0
	if slowly {
		w.relistSlowly()
	}
	for range n {
		if slowly {
			time.Sleep(700 * time.Millisecond)
		}
		synctest.Wait()
		w.doUserWrite(w.randomUserWrite(r))
	}
}

// relistSlowly makes all sources list anew, a page a second.
func (w *world) relistSlowly() {
	for _, s := range w.sources {
		for range 5 {
			s.queueFaults(fault{delayRequests, 1})
		}
		s.expireWatches()
	}
}

// randomUserWrite makes up one write of a user.
func (w *world) randomUserWrite(r *rand.Rand) func(cache.Indexer) error {
	all := w.stored()
	var stored *pod
	if len(all) > 0 {
		stored = all[slices.SortedFunc(maps.Keys(all), byName)[r.IntN(len(all))]]
	}
	n := r.IntN(5)
	switch {
	case stored == nil || n == 0:
		p := w.unknownObject(r)
		return func(x cache.Indexer) error { return x.Add(p) }
	case n == 1:
		return func(x cache.Indexer) error { return x.Delete(stored) }
	case n == 2:
		delete(all, keyOf(stored))
		list := []any{w.unknownObject(r)}
		for _, p := range all {
			list = append(list, p)
		}
		return func(x cache.Indexer) error { return x.Replace(list, "") }
	}
	p := stored.DeepCopy()
	p.Spec.NodeName = fmt.Sprint("n", r.IntN(4))
	if p.Labels == nil {
		p.Labels = map[string]string{}
	}
	p.Labels[handLabel] = "yes"
	return func(x cache.Indexer) error { return x.Update(p) }
}

func byName(a, b key) int { return strings.Compare(a.String(), b.String()) }

// unknownObject is an object that the server has not sent, under a name that it may have.
func (w *world) unknownObject(r *rand.Rand) *pod {
	p := &pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespaceOfPart(r.IntN(w.parts)), Name: fmt.Sprint("o", r.IntN(w.names+1))}}
	w.handwrites++
	mark{handEpoch, w.handwrites}.of(p)
	w.model.announce(p)
	return p
}

func (w *world) stored() map[key]*pod {
	all := map[key]*pod{}
	for p := range w.informer.Indexer().All() {
		all[keyOf(p)] = p
	}
	return all
}

// doUserWrite makes one write, on a goroutine of its own that an index function may end, and
// lets the handlers know what they may be told because of it.
func (w *world) doUserWrite(write func(cache.Indexer) error) {
	if w.mutant.writesOtherType {
		write = func(x cache.Indexer) error { return x.Add(&corev1.Node{}) }
	}
	before := w.stored()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := write(w.informer.Shared().GetIndexer()); err != nil {
			w.fault("by hand", "a user cannot write: %v", err)
		}
	}()
	<-done
	after := w.stored()
	for k := range allKeys(before, after) {
		if before[k] == after[k] {
			continue
		}
		w.touched[k], w.everTouched[k] = true, true
		for _, a := range w.handlersOfRun() {
			a.mu.Lock()
			a.userWrites[k] = append(a.userWrites[k], userWrite{before[k], after[k]})
			a.touched[k] = true
			if w.zones > 0 {
				delete(a.newest, k)
			}
			a.mu.Unlock()
		}
	}
}

// handlersOfRun returns the handlers that know of the store: from its first full state on.
func (w *world) handlersOfRun() []*handler {
	for _, s := range w.sources {
		if s.fullStates() > 0 {
			return w.presentHandlers()
		}
	}
	return nil
}

func allKeys(stores ...map[key]*pod) map[key]bool {
	all := map[key]bool{}
	for _, m := range stores {
		for k := range m {
			all[k] = true
		}
	}
	return all
}

// undoUserWrites lets full states put right what the user has written. What no source has
// ever told of is the user's to take away, where there are several: no list of one of
// them says that there is no such object.
func (w *world) undoUserWrites() {
	if len(w.touched) == 0 {
		return
	}
	for _, k := range slices.SortedFunc(maps.Keys(w.touched), byName) {
		p, stored := w.informer.Indexer().Get(k)
		live := w.model.live[k]
		if unknown := live == nil || w.transform == "frail" && poisonous(live); stored && unknown && len(w.sources) > 1 {
			w.doUserWrite(func(x cache.Indexer) error { return x.Delete(p) })
		}
	}
	if !w.mutant.skipsRelists {
		w.relistAll()
	}
}

// justListed tells whether an object is in a full state that is told right now: its only source
// has listed it, and nothing is made of it on the way.
func (w *world) justListed(p *pod) bool {
	return len(w.sources) == 1 && w.transform == "" && w.sources[0].holds(p)
}

// applyUserWrites makes of what the actor knows of an object what the store held before a
// change: what it was told last, or what the user has made of that.
func (a *handler) applyUserWrites(c event) {
	k := keyOf(subject(c))
	for len(a.userWrites[k]) > 0 && !a.follows(c) {
		a.applyUserWrite(k)
	}
}

// applyUserWrite lets the actor know of the next write of a user.
func (a *handler) applyUserWrite(k key) {
	next := a.userWrites[k][0]
	a.userWrites[k] = a.userWrites[k][1:]
	switch {
	case a.known[k] != next.was: // long ago
	case next.is == nil:
		delete(a.known, k)
	default:
		a.known[k] = next.is
	}
}

// follows tells whether a change follows what the actor knows.
func (a *handler) follows(c event) bool {
	known := a.known[keyOf(subject(c))]
	switch {
	case c.Kind == informer.Added:
		return known == nil
	case c.Kind == informer.Updated || c.Lost:
		return known == c.Old
	}
	return known != nil
}

// unknowable tells whether what the actor was told last of an object may be anything: with
// Latest it is not told which of a user's writes were between what it is told.
func (a *handler) unknowable(k key) bool {
	return a.delivery == informer.Latest && len(a.userWrites[k]) > 0
}

// applyPendingWrites is called when all has been told: the user's writes that no change has
// followed are known now. One that was told the latest may know what a user has deleted.
func (a *handler) applyPendingWrites(stored func(key) *pod) {
	for k, written := range a.userWrites {
		deleted := slices.ContainsFunc(written, func(h userWrite) bool { return h.is == nil })
		for len(a.userWrites[k]) > 0 && a.known[k] != stored(k) {
			a.applyUserWrite(k)
		}
		if a.delivery == informer.Latest && deleted && stored(k) == nil {
			delete(a.known, k)
		}
	}
	clear(a.userWrites)
}
