package sim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tidemark-k8s/tidemark/informer"
)

// sabotage is a set of lies told between the informer and the checkers.
type sabotage struct {
	tell      func(a *actor, c told) []told // what a handler is told
	serve     func(p *pod)                  // what the server sends
	status    func(*informer.Status)
	worlds    func(seed uint64) plan // whose worlds it is for, nil for ordinary ones
	squats    bool                   // a lease is not released
	hoards    bool                   // a factory drops nothing
	unpins    bool                   // nobody asks for an informer to stay
	loiters   bool                   // an informer is not stopped
	sleeps    bool                   // an informer is not restarted
	stale     bool                   // who waits for the state of now does not wait
	open      bool                   // what is denied is served
	hides     bool                   // a resource that is taken away is still defined
	blind     bool                   // nobody asks how the informer is doing
	index     bool                   // an index function that is not one
	again     bool                   // the same index is added again
	hush      bool                   // watches bring nothing
	stateless bool                   // no full state is ever told whole
	leaves    bool                   // nothing is listed after a user has written
	foreign   bool                   // a user writes another type
	mum       bool                   // bookmarks get lost, always
	away      bool                   // a server that is restored does not come back
	deaf      bool                   // a watch does not stop
	synced    bool                   // everyone is synced at once
	unsynced  bool                   // nobody ever is
	selects   bool                   // a query finds one less
	rings     bool                   // a handler is told something after the informer has stopped
	echoes    bool                   // a handler is told something after it has left
	none      bool                   // a handler that is none joins
	patient   bool                   // who waits until all was delivered waits on
	rewinds   bool                   // the cache has held newer versions than it did
	scribbles bool                   // a stored object is changed
	backlog   int                    // more than there is
	calls     int64                  // more than there were
	requests  int                    // more than there are, for each
}

func (s sabotage) found(found []*pod) []*pod {
	if s.selects && len(found) > 0 {
		return found[1:]
	}
	return found
}

// sends is a sabotage of what handlers are told.
func sends(tell func(a *actor, c told) []told) sabotage { return sabotage{tell: tell} }

// edits is one that tells each change otherwise.
func edits(edit func(a *actor, c *told)) sabotage {
	return sends(func(a *actor, c told) []told {
		edit(a, &c)
		return []told{c}
	})
}

// doubles is one that tells some changes twice.
func doubles(which func(c told) bool) sabotage {
	return sends(func(_ *actor, c told) []told {
		if which(c) {
			return []told{c, c}
		}
		return []told{c}
	})
}

// drops is one that keeps some changes back.
func drops(which func(c told) bool) sabotage {
	return sends(func(_ *actor, c told) []told {
		if which(c) {
			return nil
		}
		return []told{c}
	})
}

// delays is one that takes its time.
func delays(d time.Duration) sabotage { return edits(func(*actor, *told) { time.Sleep(d) }) }

// counts is one of the status.
func counts(edit func(*informer.Status)) sabotage { return sabotage{status: edit} }

// lie is a sabotage, and the checker that must find it out in some world, for
// this reason.
type lie struct {
	name, checker, reason string
	sabotage              sabotage
}

// lies is at least one lie for each checker, and for each reason of those that
// look at what handlers are told.
var lies = []lie{
	{"the server sends what never was", "true", "what was never true", sabotage{serve: serveNews}},
	{"the cache holds what never was", "cached", "never true", sabotage{serve: serveNews}},
	{"the cache goes back", "cached", "went back", sabotage{rewinds: true}},
	{"a handler is told what it was told before", "never back", "an older version", sends(func(_ *actor, c told) []told {
		if c.Kind == informer.Updated && c.Old != c.New {
			return []told{c, {Kind: informer.Updated, Old: c.New, New: c.Old}}
		}
		return []told{c}
	})},
	{"changes change places", "never back", "an older version", sends(swap)},
	{"a change has no kind", "known", "no kind", edits(func(_ *actor, c *told) { c.Kind = 0 })},
	{"an add comes twice", "known", "an add of what it knows", doubles(func(c told) bool { return c.Kind == informer.Added })},
	{"a delete comes twice", "known", "not an add of what it does not know", doubles(func(c told) bool { return c.Kind == informer.Deleted })},
	{"an add has an old", "old", "an add with an old", edits(func(_ *actor, c *told) {
		if c.Kind == informer.Added {
			c.Old = c.New
		}
	})},
	{"old is another version", "old", "an update from what it did not see last", edits(func(_ *actor, c *told) {
		if c.Kind == informer.Updated {
			c.Old = c.Old.DeepCopy()
		}
	})},
	{"the last state of what is lost is another", "old", "a lost delete of what it did not see last", edits(func(_ *actor, c *told) {
		if c.Kind == informer.Deleted {
			c.Old, c.Lost = c.Old.DeepCopy(), true
		}
	})},
	{"a delete has a new", "old", "a delete with a new", edits(func(_ *actor, c *told) {
		if c.Kind == informer.Deleted {
			c.New = c.Old
		}
	})},
	{"an update is initial", "initial", "a flag that does not belong there", edits(func(_ *actor, c *told) {
		c.Initial = c.Initial || c.Kind == informer.Updated
	})},
	{"an add is lost", "initial", "a flag that does not belong there", edits(func(_ *actor, c *told) {
		c.Lost = c.Lost || c.Kind == informer.Added
	})},
	{"all adds are initial", "initial", "an initial add after it was synced", edits(func(_ *actor, c *told) {
		c.Initial = c.Kind == informer.Added
	})},
	{"an initial add comes twice", "initial", "a second initial add", doubles(func(c told) bool { return c.Initial })},
	{"an initial add is of another object", "initial", "an initial add of what was not there when it joined", edits(func(_ *actor, c *told) {
		if c.Initial {
			c.New = c.New.DeepCopy()
		}
	})},
	{"no add is initial", "synced early", "initial objects", edits(func(_ *actor, c *told) { c.Initial = false })},
	{"everyone is synced at once", "synced early", "before the informer", sabotage{synced: true}},
	{"nobody is synced", "synced late", "not synced", sabotage{unsynced: true}},
	{"a delete gets lost", "fold", "", drops(func(c told) bool {
		return c.Kind == informer.Deleted && !c.Lost && markOf(c.Old).serial%3 == 0
	})},
	{"the last change gets lost", "fold", "", drops(func(c told) bool {
		return c.Kind == informer.Updated && markOf(c.New).serial > 40
	})},
	{"two changes at a time", "one at a time", "", edits(func(a *actor, _ *told) { a.busy.Store(true) })},
	{"a change is told before it is stored", "stored first", "", edits(func(_ *actor, c *told) {
		if c.New != nil {
			c.New = c.New.DeepCopy()
			m := markOf(c.New)
			mark{m.epoch, m.serial + 1}.of(c.New)
		}
	})},
	{"an index function that changes its mind", "index", "", sabotage{index: true}},
	{"an index that is there", "indexed", "", sabotage{again: true}},
	{"a query that misses one", "selectors", "", sabotage{selects: true}},
	{"a backlog without a bound", "latest", "", sabotage{backlog: 10_000}},
	{"watches that bring nothing", "converges", "", sabotage{hush: true}},
	{"a server that does not come back", "restored", "", sabotage{away: true}},
	{"no bookmark ever", "catches up", "", sabotage{mum: true}},
	{"handlers that take forever", "delivered", "", delays(20 * time.Minute)},
	{"handlers that do not end", "stops", "", delays(3 * time.Second)},
	{"a handler that is none joins", "joins", "", sabotage{none: true}},
	{"handlers that are told something after they left", "quiet", "", sabotage{echoes: true}},
	{"handlers that are told something later", "asleep", "", sabotage{rings: true}},
	{"a watch that does not stop", "goroutines", "", sabotage{deaf: true}},
	{"twenty requests where one would do", "budget", "", sabotage{requests: 20}},
	{"someone changes an object", "frozen", "", sabotage{scribbles: true}},
	{"handlers end their goroutines, and it is not told", "exits told", "", edits(func(a *actor, _ *told) { a.exited.Add(1) })},
	{"a last event that moves back", "looked", "", counts(func(st *informer.Status) { st.LastEvent = time.Unix(0, -time.Now().UnixNano()) })},
	{"an informer that does not run as it stops", "running", "", sabotage{status: func(st *informer.Status) { st.Running = false }}},
	{"a stopped informer that watches", "stopped", "", counts(func(st *informer.Status) { st.Watching = true })},
	{"a list of what is known that is told", "nothing new", "is told", sabotage{calls: 1}},
	{"a full state that never comes", "relists", "", sabotage{stateless: true}},
	{"an error of long ago", "status", "before this run", sabotage{status: func(st *informer.Status) { st.LastError = errFrail }}},
	{"what a user has written is left as it is", "converges", "", sabotage{leaves: true}},
	{"a user who writes what is no pod", "by hand", "", sabotage{foreign: true}},
	{"an update that is told as a delete and an add", "needless", "a lost delete of what the list holds", sends(func(_ *actor, c told) []told {
		if c.Kind == informer.Updated && c.Old != c.New {
			return []told{{Kind: informer.Deleted, Old: c.Old, Lost: true}, {Kind: informer.Added, New: c.New}}
		}
		return []told{c}
	})},
	{"who waits until all was delivered waits on", "await", "", sabotage{patient: true}},
	{"who waits until all was delivered waits for ever", "awaited", "", sabotage{patient: true}},
	{"all deletes are lost", "as seen", "a lost delete of what was seen to be deleted", sabotage{tell: func(a *actor, c told) []told {
		c.Lost = c.Lost || c.Kind == informer.Deleted && a.delivery == informer.Latest
		return []told{c}
	}}},
	{"a denial that lets everybody in", "unproved", "nobody has seen it deleted", sabotage{worlds: newResourcePlan, open: true}},
	{"a deletion that nobody may see", "converges", "the server has not", sabotage{worlds: newResourcePlan, hides: true}},
	{"a resource that is missing, and is not said to be", "presence", "it is missing: true", sabotage{worlds: newResourcePlan, status: func(st *informer.Status) { st.NotServedSince = time.Time{} }}},
	{"a resource that is there, and is said to be missing", "presence", "it is missing: false", sabotage{worlds: newResourcePlan, status: func(st *informer.Status) { st.NotServedSince = time.Now() }}},
	{"an informer that does not run for its users", "tenants", "nothing runs", sabotage{worlds: newTenantPlan, status: func(st *informer.Status) { st.Running = false }}},
	{"a lease that is not released", "tenants", "runs for nobody", sabotage{worlds: newTenantPlan, squats: true}},
	{"an informer that is not kept for who asked for it", "pins", "has asked", sabotage{worlds: newTenantPlan, unpins: true}},
	{"an informer that is told to stop, and does not", "tenants", "though it was stopped", sabotage{worlds: newTenantPlan, loiters: true}},
	{"an informer that is told to go on, and does not", "tenants", "nothing runs", sabotage{worlds: newTenantPlan, sleeps: true}},
	{"a restart that reads nothing", "anew", "has read nothing", sabotage{worlds: newTenantPlan, sleeps: true}},
	{"a factory that drops nothing", "retention", "is kept", sabotage{worlds: newTenantPlan, hoards: true}},
	{"who waits for the state of now does not wait", "fresh", "long after", sabotage{worlds: newTenantPlan, stale: true}},
	{"who waits for the state of now waits on", "fresh", "in vain", sabotage{worlds: newTenantPlan, patient: true}},
	{"handlers that are told something after their lease", "quiet", "", sabotage{worlds: newTenantPlan, echoes: true}},
	{"a handler of a lease that misses the last change", "converges", "knows", sabotage{worlds: newTenantPlan, tell: drops(func(c told) bool { return c.Kind == informer.Updated }).tell}},
	{"errors that are not counted", "status", "errors are counted", counts(func(st *informer.Status) { st.Errors = 0 })},
	{"a last error that is forgotten", "status", "no last error", counts(func(st *informer.Status) { st.LastError = nil })},
	{"a quarantine that is not counted", "status", "quarantined", counts(func(st *informer.Status) { st.Quarantined++ })},
	{"an object in no index that is not counted", "status", "not indexed", counts(func(st *informer.Status) { st.Unindexed++ })},
	{"a status of before", "status", "running", counts(func(st *informer.Status) { st.Running = false })},
	{"a store that is not counted", "status", "objects are counted", counts(func(st *informer.Status) { st.Objects++ })},
}

// plan draws a world for the sabotage.
func (s sabotage) plan(seed uint64) plan {
	if s.worlds == nil {
		return newPlan(seed)
	}
	return s.worlds(seed)
}

// serveNews makes some objects what they never were.
func serveNews(p *pod) {
	if m := markOf(p); m.serial%5 == 0 {
		mark{m.epoch, m.serial + 1000}.of(p)
	}
}

// swap tells an update after the change that follows it.
func swap(a *actor, c told) []told {
	switch {
	case a.saved != nil:
		saved := *a.saved
		a.saved = nil
		return []told{c, saved}
	case c.Kind == informer.Updated:
		a.saved = &c
		return nil
	}
	return []told{c}
}

// Each checker finds out the lies that are made for it, within some worlds.
func TestEachCheckerCanFail(t *testing.T) {
	for _, lie := range lies {
		t.Run(lie.name, func(t *testing.T) {
			for seed := range uint64(150) {
				p := lie.sabotage.plan(seed)
				if p.setup.lease && lie.sabotage.index {
					continue
				}
				for _, v := range run(t, p, lie.sabotage).violations {
					if v.checker == lie.checker && strings.Contains(v.what, lie.reason) {
						return
					}
				}
			}
			t.Errorf("the checker %q has found nothing", lie.checker)
		})
	}
}
