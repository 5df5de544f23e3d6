package sim_test

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
)

// cachedWrong checks that the server once had every cached version, and that versions do not go back
// within a history.
func cachedWrong(w *world) (problems []string) {
	now := map[key]mark{}
	for p := range w.informer.Indexer().All() {
		w.frozen.note(p)
		k, m := keyOf(p), markOf(p)
		if !w.model.everHad(p) {
			problems = append(problems, "the cache holds a state that never existed: "+spell(p))
		}
		if w.otherwise(p) {
			problems = append(problems, "the cache holds an object that differs from the server's: "+spell(p))
		}
		if again, _ := w.get(k); again != w.one(p) {
			problems = append(problems, "Get and a list differ for "+spell(p))
		}
		if m.before(w.cached[k]) && w.zones == 0 && m.epoch != handEpoch {
			problems = append(problems, fmt.Sprintf("the cache went back from %v to %s", w.cached[k], spell(p)))
		}
		if now[k] = m; w.mutant.rewindsCache {
			now[k] = mark{m.epoch, m.serial + 1}
		}
	}
	w.cached = now
	return problems
}

// storage checks the memory of a packed store.
func storage(w *world) []string {
	return storageWrong(w.packed, w.storage, w.statusOf(w.informer), slices.Collect(maps.Keys(w.cached)), &w.byHand, w.informer.Indexer().Get)
}

// otherwise reports whether an object differs from everything that sources have sent with its version.
// It returns false for objects that a user has written.
func (w *world) otherwise(p *pod) bool {
	return markOf(p).epoch != handEpoch && p.Labels[handLabel] == "" && !w.model.hasShown(p)
}

// firstListed returns the number of objects in the first lists of the sources. It returns 0 if the
// number proves nothing: a source has listed twice, events came twice, or a user has written.
func (w *world) firstListed() int {
	for _, s := range w.sources {
		if s.fullStates() > 1 {
			return 0
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.reached["operation "+string(duplicateEvents)] > 0 || w.reached["operation "+string(writeByHand)] > 0 || w.reached["store filled"] > 0 {
		return 0
	}
	return w.listed
}

// cacheDiffers returns the differences between the cache and the server. If the transform fails on an
// object, the cache may have an older version of it, or none. While the resource is removed, the cache
// may have any object whose deletion it has missed.
func cacheDiffers(w *world) (problems []string) {
	if w.lacksResource() {
		return nil
	}
	for _, p := range w.model.live {
		sick := w.fails(p)
		stored, ok := w.get(keyOf(p))
		switch {
		case !sick && ok && stored.Labels[handLabel] != "":
			problems = append(problems, "the cache still holds an object that a user has written: "+spell(stored))
		case sick && ok && markOf(stored) == markOf(p):
			problems = append(problems, "the cache holds an object that the transform failed on: "+spell(stored))
		case !sick && !ok:
			problems = append(problems, "the cache lacks "+spell(p))
		case !sick && markOf(stored) != markOf(p):
			problems = append(problems, fmt.Sprintf("the cache has %s, but the server has %s", spell(stored), spell(p)))
		}
	}
	for _, p := range w.all(w.informer) {
		if w.model.live[keyOf(p)] == nil {
			problems = append(problems, "the cache has, but the server does not have, "+spell(p))
		}
	}
	if n := w.informer.Status().Quarantined; n != w.wantQuarantined() {
		problems = append(problems, fmt.Sprintf("%d objects are quarantined, but %d should be", n, w.wantQuarantined()))
	}
	slices.Sort(problems)
	return problems
}

// wantQuarantined returns the number of objects on which the transform fails.
func (w *world) wantQuarantined() (n int) {
	for _, p := range w.model.live {
		if w.fails(p) {
			n++
		}
	}
	return n
}

// indexes checks that every index equals one computed from all objects.
func indexes(w *world) (problems []string) {
	x := w.informer.Indexer()
	names := []string{"node", "namespace"}
	for n := range w.indexes {
		if w.indexOf(fmt.Sprint("extra", n+1)) {
			names = append(names, fmt.Sprint("extra", n+1))
		}
	}
	if w.frail {
		names = append(names, "frail")
	}
	for _, name := range names {
		want := map[string]map[*pod]bool{}
		for _, p := range w.all(w.informer) {
			for _, value := range valuesOf(name, p) {
				if want[value] == nil {
					want[value] = map[*pod]bool{}
				}
				want[value][p] = true
			}
		}
		got, err := x.Values(name)
		if err != nil {
			problems = append(problems, err.Error())
		}
		slices.Sort(got)
		if !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
			problems = append(problems, fmt.Sprintf("index %s has the values %v, want %v", name, got, slices.Sorted(maps.Keys(want))))
		}
		for value, objects := range want {
			found := map[*pod]bool{}
			for p := range x.By(name, value) {
				found[w.one(p)] = true
			}
			if !maps.Equal(found, objects) {
				problems = append(problems, fmt.Sprintf("index %s has %d of %d objects at %q", name, len(found), len(objects), value))
			}
		}
	}
	return problems
}

func (w *world) indexOf(name string) bool {
	return slices.Contains(w.informer.Indexer().Indexes(), name)
}

// valuesOf computes the index values of an object.
func valuesOf(name string, p *pod) []string {
	switch {
	case name == "namespace":
		return []string{p.Namespace}
	case name == "frail" && p.Labels["unindexed"] != "":
		return nil
	case name == "frail":
		return []string{p.Labels["app"]}
	}
	return nodeOf(p)
}

// selectors checks that the result of every label query equals one computed from all objects.
func selectors(w *world) (problems []string) {
	l := w.informer.Lister()
	for _, query := range []string{"app=x", "app in (x,y)", "app!=z,poison", "!unindexed", "missing=x"} {
		selector, err := labels.Parse(query)
		if err != nil {
			panic(err)
		}
		for _, namespace := range []string{"", "a"} {
			want := map[*pod]bool{}
			for _, p := range w.all(w.informer) {
				if selector.Matches(labels.Set(p.Labels)) && (namespace == "" || p.Namespace == namespace) {
					want[p] = true
				}
			}
			found, err := l.List(selector)
			if namespace != "" {
				found, err = l.Namespace(namespace).List(selector)
			}
			got := map[*pod]bool{}
			for _, p := range w.mutant.queryResult(found) {
				got[w.one(p)] = true
			}
			if err != nil || !maps.Equal(got, want) || len(got) != len(found) {
				problems = append(problems, fmt.Sprintf("%q in namespace %q selects %d objects, want %d: %v", query, namespace, len(got), len(want), err))
			}
		}
	}
	return problems
}
