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

// In some worlds a user writes into the store through client-go's API at any time. The handlers get no
// events for these writes. The next event of the key has the user's version as its old object. A delete
// is delivered whether or not the object is stored. The next lists restore the server's state.

// userWrite is a write by a user: the object that was stored before, and the object that is stored
// since.
type userWrite struct{ was, is *pod }

// handEpoch is the epoch of objects that the server has never had.
const handEpoch = 0

// handLabel marks objects of the server that a user has changed.
const handLabel = "hand"

// writeByHand makes n user writes.
func (w *world) writeByHand(r *rand.Rand, n int) {
	if w.blank {
		return // without versions, no list restores the server's state
	}
	w.reach("operation", writeByHand)
	slowly := r.IntN(3) == 0
	if slowly {
		w.relistSlowly()
		w.listsSlowly = true
	}
	for range n {
		if slowly {
			time.Sleep(700 * time.Millisecond)
		}
		synctest.Wait()
		w.doUserWrite(w.randomUserWrite(r))
	}
}

// fillByHand fills the store before the informer starts. The first list replaces or deletes these
// objects, and handlers get no events for them. It does so in every fourth world.
func (w *world) fillByHand() {
	own, ok := w.life.(*ownInformer)
	if !ok || w.plan.seed%4 != 0 || w.script || w.blank || w.custom {
		return
	}
	w.reach("store", "filled")
	w.informer = own.informer
	w.addHandler(kinds[0], false)
	r := rand.New(rand.NewPCG(w.plan.seed, 3)) //nolint:gosec // a test
	for range 1 + r.IntN(4) {
		p := w.unknownObject(r)
		w.doUserWrite(func(x cache.Indexer) error { return x.Add(p) })
	}
	for n := r.IntN(3); n > 0; n-- { // the server also has some of them
		w.send(w.model.randomChange(r, w.setup))
	}
}

// mayNotKnow reports whether an event is a delete of an object that the handler may not know: a user
// removed the object before the handler joined, the source has sent the delete twice, or the object had
// moved, and another source has sent the delete. With Latest, a later add may be merged with the delete.
func (a *handler) mayNotKnow(c event) bool {
	if c.Kind == informer.Added || a.delivery == informer.Every && (c.Kind == informer.Updated || c.Lost) {
		return false
	}
	return a.removed[keyOf(subject(c))] || a.w.zones > 0 || a.w.sent("operation "+string(duplicateEvents))
}

// sent reports whether an occurrence that some world must reach has been recorded.
func (w *world) sent(what string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reached[what] > 0
}

// relistSlowly makes all sources relist, one page per second.
func (w *world) relistSlowly() {
	for _, s := range w.sources {
		for range 5 {
			s.queueFaults(fault{delayRequests, 1})
		}
		s.expireWatches()
	}
}

// randomUserWrite returns a random user write.
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
		list, rewritten := []any{w.unknownObject(r)}, map[key]bool{}
		for k, p := range all {
			w.byHand.add(k)
			rewritten[k] = w.packed != decoded || w.zones > 0 // otherwise the store has this very object, and its source continues
			list = append(list, p)
		}
		w.rewritten = rewritten
		return func(x cache.Indexer) error { return x.Replace(list, "") }
	}
	p := stored.DeepCopy()
	p.Spec.NodeName = fmt.Sprint("n", r.IntN(4))
	if p.Labels == nil {
		p.Labels = map[string]string{}
	}
	p.Labels[handLabel] = "yes"
	w.byHand.add(keyOf(p))
	return func(x cache.Indexer) error { return x.Update(p) }
}

func byName(a, b key) int { return strings.Compare(a.String(), b.String()) }

// unknownObject returns an object that the server has never sent. The server may use its name.
func (w *world) unknownObject(r *rand.Rand) *pod {
	p := &pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespaceOf(r.IntN(w.namespaces)), Name: fmt.Sprint("o", r.IntN(w.names+1))}}
	w.handwrites++
	mark{handEpoch, w.handwrites}.of(p)
	w.byHand.add(keyOf(p))
	w.model.announce(p)
	return p
}

func (w *world) stored() map[key]*pod {
	all := map[key]*pod{}
	for _, p := range w.all(w.informer) {
		all[keyOf(p)] = p
	}
	return all
}

// doUserWrite makes a user write. It records in the handlers the changes that their next events may
// build on. The write has its own goroutine, because an index function may end it.
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
		if before[k] == after[k] && !w.rewritten[k] {
			continue
		}
		w.touched[k], w.everTouched[k] = true, true
		w.removed[k] = after[k] == nil
		w.everRemoved[k] = w.everRemoved[k] || w.removed[k]
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
	w.rewritten = nil
}

// handlersOfRun returns the handlers that can see the effects of user writes. Before the first list,
// handlers know nothing about the store.
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

// undoUserWrites relists, which restores the server's state. With several sources, the user must delete
// the objects that no source has ever sent, because no single list proves that they do not exist.
func (w *world) undoUserWrites() {
	if len(w.touched) == 0 {
		return
	}
	for _, k := range slices.SortedFunc(maps.Keys(w.touched), byName) {
		p, stored := w.get(k)
		live := w.model.live[k]
		if unknown := live == nil || w.fails(live); stored && unknown && len(w.sources) > 1 {
			w.doUserWrite(func(x cache.Indexer) error { return x.Delete(p) })
		}
	}
	if w.mutant.skipsRelists {
		return
	}
	if w.listsSlowly {
		w.relistAll() // a list that was in progress may be older than a write
		w.listsSlowly = false
	}
	w.relistAll()
}

// justListed reports whether the world's only source has listed an object at this very moment, and the
// informer has no transform.
func (w *world) justListed(p *pod) bool {
	return len(w.sources) == 1 && w.transform == "" && w.sources[0].holds(p)
}

// applyUserWrites applies pending user writes to the handler's objects until the event follows from
// them. If a user has written the old object of an event, all earlier writes of the key have ended. Some
// may have ended by an event that does not follow from them, such as a delete.
func (a *handler) applyUserWrites(c event) {
	k := keyOf(subject(c))
	written := slices.IndexFunc(a.userWrites[k], func(h userWrite) bool { return h.is != nil && h.is == c.Old })
	if written >= 0 {
		a.known[k], a.userWrites[k] = c.Old, a.userWrites[k][written+1:]
		return
	}
	for len(a.userWrites[k]) > 0 && !a.follows(c) {
		a.applyUserWrite(k)
	}
}

// applyUserWrite applies the oldest pending user write of a key to the handler's objects.
func (a *handler) applyUserWrite(k key) {
	next := a.userWrites[k][0]
	a.userWrites[k] = a.userWrites[k][1:]
	switch {
	case a.known[k] != next.was: // the handler has had a later event
	case next.is == nil:
		delete(a.known, k)
	default:
		a.known[k] = next.is
	}
}

// follows reports whether an event follows from the handler's objects.
func (a *handler) follows(c event) bool {
	known := a.known[keyOf(subject(c))]
	switch {
	case c.Kind == informer.Added:
		return known == nil
	case known == nil && a.mayNotKnow(c):
		return true
	case c.Kind == informer.Updated || c.Lost:
		return known == c.Old
	}
	return known != nil
}

// unknowable reports whether the handler's old object of a key cannot be predicted. With Latest, any of
// the pending user writes may have been merged.
func (a *handler) unknowable(k key) bool {
	return a.delivery == informer.Latest && len(a.userWrites[k]) > 0
}

// applyPendingWrites applies the remaining user writes when all events are delivered. With Latest, the
// handler may still have an object that a user has removed, because the object's later add and delete
// cancel out (T19).
func (a *handler) applyPendingWrites(stored func(key) *pod) {
	for k := range a.userWrites {
		for len(a.userWrites[k]) > 0 && a.known[k] != stored(k) {
			a.applyUserWrite(k)
		}
	}
	clear(a.userWrites)
	if a.delivery == informer.Latest {
		maps.DeleteFunc(a.known, func(k key, _ *pod) bool { return a.w.everRemoved[k] && stored(k) == nil })
	}
}
