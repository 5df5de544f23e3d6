package sim_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/informer"
)

// sabotage is a set of lies told between the informer and the checkers.
type sabotage struct {
	tell      func(a *actor, c told) []told // what a handler is told
	serve     func(p *pod)                  // what the server sends
	status    func(*informer.Status)
	index     bool // an index function that is not one
	hush      bool // watches bring nothing
	deaf      bool // a watch does not stop
	synced    bool // everyone is synced at once
	selects   bool // a query finds one less
	rings     bool // a handler is told something after the informer has stopped
	scribbles bool // a stored object is changed
	backlog   int  // more than there is
	requests  int  // more than there are, for each
}

func (s sabotage) found(found []*pod) []*pod {
	if s.selects && len(found) > 0 {
		return found[1:]
	}
	return found
}

// lies is one lie for each checker, which must find it out.
var lies = []struct {
	name, checker string
	sabotage      sabotage
}{
	{"the server sends what never was", "true", sabotage{serve: func(p *pod) {
		if m := markOf(p); m.serial%5 == 0 {
			mark{m.epoch, m.serial + 1000}.of(p)
		}
	}}},
	{"a handler is told what it was told before", "never back", sabotage{tell: func(a *actor, c told) []told {
		if c.Kind == informer.Updated && c.Old != c.New {
			return []told{c, {Kind: informer.Updated, Old: c.New, New: c.Old}}
		}
		return []told{c}
	}}},
	{"changes change places", "never back", sabotage{tell: func(a *actor, c told) []told {
		if a.saved == nil && c.Kind == informer.Updated {
			a.saved = &c
			return nil
		}
		if a.saved == nil {
			return []told{c}
		}
		saved := *a.saved
		a.saved = nil
		return []told{c, saved}
	}}},
	{"an add comes twice", "known", sabotage{tell: func(_ *actor, c told) []told {
		if c.Kind == informer.Added {
			return []told{c, c}
		}
		return []told{c}
	}}},
	{"a delete comes twice", "known", sabotage{tell: func(_ *actor, c told) []told {
		if c.Kind == informer.Deleted {
			return []told{c, c}
		}
		return []told{c}
	}}},
	{"old is another version", "old", sabotage{tell: func(_ *actor, c told) []told {
		if c.Kind == informer.Updated {
			c.Old = c.Old.DeepCopy()
		}
		return []told{c}
	}}},
	{"a delete gets lost", "fold", sabotage{tell: func(_ *actor, c told) []told {
		if c.Kind == informer.Deleted && !c.Lost && markOf(c.Old).serial%3 == 0 {
			return nil
		}
		return []told{c}
	}}},
	{"the last change gets lost", "fold", sabotage{tell: func(_ *actor, c told) []told {
		if c.Kind == informer.Updated && markOf(c.New).serial > 40 {
			return nil
		}
		return []told{c}
	}}},
	{"all adds are initial", "initial", sabotage{tell: func(_ *actor, c told) []told {
		c.Initial = c.Kind == informer.Added
		return []told{c}
	}}},
	{"no add is initial", "initial", sabotage{tell: func(_ *actor, c told) []told {
		c.Initial = false
		return []told{c}
	}}},
	{"everyone is synced at once", "synced", sabotage{synced: true}},
	{"two changes at a time", "one at a time", sabotage{tell: func(a *actor, c told) []told {
		a.busy.Store(true)
		return []told{c}
	}}},
	{"a change is told before it is stored", "stored first", sabotage{tell: func(_ *actor, c told) []told {
		if c.New != nil {
			c.New = c.New.DeepCopy()
			m := markOf(c.New)
			mark{m.epoch, m.serial + 1}.of(c.New)
		}
		return []told{c}
	}}},
	{"an index function that changes its mind", "index", sabotage{index: true}},
	{"a query that misses one", "selectors", sabotage{selects: true}},
	{"a backlog without a bound", "latest", sabotage{backlog: 1000}},
	{"watches that bring nothing", "converges", sabotage{hush: true}},
	{"handlers that are told something later", "quiet", sabotage{rings: true}},
	{"a watch that does not stop", "goroutines", sabotage{deaf: true}},
	{"twenty requests where one would do", "budget", sabotage{requests: 20}},
	{"someone changes an object", "frozen", sabotage{scribbles: true}},
	{"errors that are not counted", "status", sabotage{status: func(st *informer.Status) { st.Errors = 0 }}},
	{"a quarantine that is not counted", "status", sabotage{status: func(st *informer.Status) { st.Quarantined++ }}},
}

// Each checker finds out the lie that is made for it, within some worlds.
func TestEachCheckerCanFail(t *testing.T) {
	checked := map[string]bool{}
	for _, lie := range lies {
		checked[lie.checker] = true
		t.Run(lie.name, func(t *testing.T) {
			for seed := range uint64(40) {
				p := newPlan(seed)
				if p.setup.lease && lie.sabotage.index {
					continue
				}
				if run(t, p, lie.sabotage).finds(lie.checker) {
					return
				}
			}
			t.Errorf("the checker %q has found nothing", lie.checker)
		})
	}
	for _, c := range toldCheckers {
		require.True(t, checked[c.name], "no lie for the checker %q", c.name)
	}
	for _, list := range [][]worldChecker{lookCheckers, restCheckers, endCheckers} {
		for _, c := range list {
			require.True(t, checked[c.name], "no lie for the checker %q", c.name)
		}
	}
}
