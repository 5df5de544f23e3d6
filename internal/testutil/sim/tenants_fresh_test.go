package sim_test

import (
	"errors"
	"maps"
	"slices"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// freshWait is a call of WaitFresh. Its namespaceState is the oldest state that the store may show when
// the call returns: the state at the call or, if the informer was already running, at the beginning of
// the run.
type freshWait struct {
	of *tenant
	namespaceState
	returned chan struct{}
	err      error
	found    map[key]mark // the content of the store after the wait
}

func (t *tenancy) awaitFresh(one *tenant) {
	f := &freshWait{of: one, namespaceState: t.now(one.namespace), returned: make(chan struct{})}
	if one.uses.runs() {
		f.namespaceState = t.began[one.namespace]
	}
	t.fresh = append(t.fresh, f)
	go func() {
		defer close(f.returned)
		if !t.mutant.skipsFreshWait {
			f.err = one.informer.WaitFresh(one.left)
		}
		f.found = map[key]mark{}
		for p := range one.informer.Indexer().All() {
			f.found[keyOf(p)] = markOf(p)
		}
		if t.mutant.waitsForever {
			<-t.over
		}
	}()
}

// checkFresh compares the results of finished waits with the state at the time of the call, and with
// later states.
func (t *tenancy) checkFresh() {
	t.fresh = slices.DeleteFunc(t.fresh, func(f *freshWait) bool {
		if !kit.Closed(f.returned) {
			return false
		}
		if f.err == nil {
			t.checkFreshWait(f)
		} else if f.of.left.Err() == nil && !errors.Is(f.err, informer.ErrStopped) {
			t.fault("fresh", "WaitFresh returns %v", f.err)
		}
		return true
	})
}

func (t *tenancy) checkFreshWait(f *freshWait) {
	may := map[key][]mark{} // later states of an object; the zero mark means no object
	for _, c := range t.model.log[f.since:] {
		k := keyOf(c.pod)
		may[k] = append(may[k], markOf(c.pod))
	}
	for k := range merged(f.was, f.found) {
		if m := f.found[k]; m != f.was[k] && !slices.Contains(may[k], m) {
			t.fault("fresh", "%v is %v, long after it was %v", k, m, f.was[k])
		}
	}
}

func merged(a, b map[key]mark) map[key]mark {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}
