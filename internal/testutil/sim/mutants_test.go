package sim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/tier"
)

// mutant is a deviation, injected between the informer and the checkers, that a checker must find.
// The zero value injects nothing.
type mutant struct {
	deliver          func(a *handler, c event) []event // changes the events of a handler
	serve            func(p *pod)                      // changes the objects of the server
	status           func(*informer.Status)
	worlds           func(seed uint64) plan // draws the worlds to use, nil for ordinary ones
	leaksLease       bool                   // a lease is not released
	ignoresPins      bool                   // informers are not pinned
	skipsFreshWait   bool                   // WaitFresh is not called
	ignoresDenial    bool                   // denied requests are served
	skipsStatus      bool                   // the status is not read
	looksAway        bool                   // no callback looks
	unstableIndex    bool                   // an index function is not a function of the object
	sameIndex        bool                   // an index is added twice
	silentWatches    bool                   // watches deliver no event
	hidesFullStates  bool                   // lists are not counted
	skipsRelists     bool                   // nothing is listed after a user's write
	writesOtherType  bool                   // a user writes an object of another type
	losesBookmarks   bool                   // all bookmarks are lost
	staysDown        bool                   // a restored server does not come back
	watchIgnoresStop bool                   // a watch ignores Stop
	syncedAtOnce     bool                   // every handler counts as synced at once
	neverSynced      bool                   // the informer never counts as synced
	dropsQueryResult bool                   // a query lacks one object
	callsAfterStop   bool                   // a handler is called after the informer has stopped
	callsAfterLeave  bool                   // a handler is called after its removal
	nilHandler       bool                   // a nil handler is added
	waitsForever     bool                   // WaitDelivered and WaitFresh do not return
	rewindsCache     bool                   // the cache seems to have held newer versions
	keepsHot         bool                   // Get seems to show what it has shown before
	swapsBases       bool                   // some objects have something of others
	evictsNothing    bool                   // the budget is larger than it should be
	changesStored    bool                   // a stored object is changed
	staleLists       bool                   // a list is one of before
	extraBacklog     int                    // added to each backlog
	extraCalls       int64                  // added to the calls of a handler
	extraRequests    int                    // added for each request
}

func (s mutant) queryResult(found []*pod) []*pod {
	if s.dropsQueryResult && len(found) > 0 {
		return found[1:]
	}
	return found
}

// delivers returns a mutant of the events of handlers.
func delivers(tell func(a *handler, c event) []event) mutant { return mutant{deliver: tell} }

// editsEvents returns a mutant that edits each event.
func editsEvents(edit func(a *handler, c *event)) mutant {
	return delivers(func(a *handler, c event) []event {
		edit(a, &c)
		return []event{c}
	})
}

// duplicatesEvents returns a mutant that delivers some events twice.
func duplicatesEvents(which func(c event) bool) mutant {
	return delivers(func(_ *handler, c event) []event {
		if which(c) {
			return []event{c, c}
		}
		return []event{c}
	})
}

// dropsEvents returns a mutant that drops some events.
func dropsEvents(which func(c event) bool) mutant {
	return delivers(func(_ *handler, c event) []event {
		if which(c) {
			return nil
		}
		return []event{c}
	})
}

// delaysEvents returns a mutant that makes each call of a handler take time.
func delaysEvents(d time.Duration) mutant {
	return editsEvents(func(*handler, *event) { time.Sleep(d) })
}

// editsStatus returns a mutant of the status.
func editsStatus(edit func(*informer.Status)) mutant { return mutant{status: edit} }

// mutantCase is a mutant, and the checker that must find it in some world, with this reason.
type mutantCase struct {
	name, checker, reason string
	mutant                mutant
}

// mutants has at least one mutant for each checker, and one for each reason of eventCheckers.
var mutants = []mutantCase{
	{"the server sends what never was", "true", "what was never true", mutant{serve: serveNews}},
	{"the cache holds what never was", "cached", "never true", mutant{serve: serveNews}},
	{"an object decoded with the base of another", "content", "what the server has otherwise", mutant{swapsBases: true}},
	{"a stored object decoded with the base of another", "cached", "otherwise", mutant{swapsBases: true}},
	{"a decoded object is kept though another is put", "cached", "Get shows not", mutant{keepsHot: true}},
	{"a budget that evicts nothing", "storage", "are used", mutant{evictsNothing: true}},
	{"objects that are decoded beside the budget", "storage", "are decoded in a budget", mutant{evictsNothing: true}},
	{"objects that are pinned, and nobody has written them", "storage", "are pinned", editsStatus(func(st *informer.Status) { st.Storage.Pinned += 1000 })},
	{"an informer of decoded objects that packs", "storage", "nothing is packed", editsStatus(func(st *informer.Status) { st.Storage.Packed++ })},
	{"the cache goes back", "cached", "went back", mutant{rewindsCache: true}},
	{"a handler is told what it was told before", "never back", "an older version", delivers(func(_ *handler, c event) []event {
		if c.Kind == informer.Updated && c.Old != c.New {
			return []event{c, {Kind: informer.Updated, Old: c.New, New: c.Old}}
		}
		return []event{c}
	})},
	{"changes change places", "never back", "an older version", delivers(swap)},
	{"a change has no kind", "known", "no kind", editsEvents(func(_ *handler, c *event) { c.Kind = 0 })},
	{"an add comes twice", "known", "an add of what it knows", duplicatesEvents(func(c event) bool { return c.Kind == informer.Added })},
	{"a delete comes twice", "known", "not an add of what it does not know", duplicatesEvents(func(c event) bool { return c.Kind == informer.Deleted })},
	{"an add has an old", "old", "an add with an old", editsEvents(func(_ *handler, c *event) {
		if c.Kind == informer.Added {
			c.Old = c.New
		}
	})},
	{"old is another version", "old", "an update from what it did not see last", editsEvents(func(_ *handler, c *event) {
		if c.Kind == informer.Updated {
			c.Old = c.Old.DeepCopy()
		}
	})},
	{"the last state of what is lost is another", "old", "a lost delete of what it did not see last", editsEvents(func(_ *handler, c *event) {
		if c.Kind == informer.Deleted {
			c.Old, c.Lost = c.Old.DeepCopy(), true
		}
	})},
	{"a delete has a new", "old", "a delete with a new", editsEvents(func(_ *handler, c *event) {
		if c.Kind == informer.Deleted {
			c.New = c.Old
		}
	})},
	{"an update is initial", "initial", "a flag that does not belong there", editsEvents(func(_ *handler, c *event) {
		c.Initial = c.Initial || c.Kind == informer.Updated
	})},
	{"an add is lost", "initial", "a flag that does not belong there", editsEvents(func(_ *handler, c *event) {
		c.Lost = c.Lost || c.Kind == informer.Added
	})},
	{"all adds are initial", "initial", "an initial add after it was synced", editsEvents(func(_ *handler, c *event) {
		c.Initial = c.Kind == informer.Added
	})},
	{"an initial add comes twice", "initial", "a second initial add", duplicatesEvents(func(c event) bool { return c.Initial })},
	{"an initial add is of another object", "initial", "an initial add of what was not there when it joined", editsEvents(func(_ *handler, c *event) {
		if c.Initial {
			c.New = c.New.DeepCopy()
		}
	})},
	{"no add is initial", "synced early", "initial objects", editsEvents(func(_ *handler, c *event) { c.Initial = false })},
	{"everyone is synced at once", "synced early", "before the informer", mutant{syncedAtOnce: true}},
	{"nobody is synced", "synced late", "not synced", mutant{neverSynced: true}},
	{"a delete gets lost", "fold", "", dropsEvents(func(c event) bool {
		return c.Kind == informer.Deleted && !c.Lost && markOf(c.Old).serial%3 == 0
	})},
	{"the last change gets lost", "fold", "", dropsEvents(func(c event) bool {
		return c.Kind == informer.Updated && markOf(c.New).serial > 40
	})},
	{"two changes at a time", "one at a time", "", editsEvents(func(a *handler, _ *event) { a.busy.Store(true) })},
	{"a change is told before it is stored", "stored first", "", editsEvents(func(_ *handler, c *event) {
		if c.New != nil {
			c.New = c.New.DeepCopy()
			m := markOf(c.New)
			mark{m.epoch, m.serial + 1}.of(c.New)
		}
	})},
	{"an index function that changes its mind", "index", "", mutant{unstableIndex: true}},
	{"an index that is there", "indexed", "", mutant{sameIndex: true}},
	{"a list of a moment ago", "reads", "", mutant{staleLists: true}},
	{"a query that misses one", "selectors", "", mutant{dropsQueryResult: true}},
	{"a compound query that misses one", "found", "", mutant{dropsQueryResult: true}},
	{"a backlog without a bound", "latest", "", mutant{extraBacklog: 10_000}},
	{"watches that bring nothing", "converges", "", mutant{silentWatches: true}},
	{"a server that does not come back", "restored", "", mutant{staysDown: true}},
	{"no bookmark ever", "catches up", "", mutant{losesBookmarks: true}},
	{"handlers that take forever", "delivered", "", delaysEvents(20 * time.Minute)},
	{"handlers that do not end", "stops", "", delaysEvents(3 * time.Second)},
	{"a handler that is none joins", "joins", "", mutant{nilHandler: true}},
	{"handlers that are told something after they left", "quiet", "", mutant{callsAfterLeave: true}},
	{"handlers that are told something later", "asleep", "", mutant{callsAfterStop: true}},
	{"a watch that does not stop", "goroutines", "", mutant{watchIgnoresStop: true}},
	{"twenty requests where one would do", "budget", "", mutant{extraRequests: 20}},
	{"twenty requests at a time", "pace", "", mutant{extraRequests: 20}},
	{"someone changes an object", "frozen", "", mutant{changesStored: true}},
	{"a last event that moves back", "looked", "", editsStatus(func(st *informer.Status) { st.LastEvent = time.Unix(0, -time.Now().UnixNano()) })},
	{"an informer that does not run as it stops", "running", "", mutant{status: func(st *informer.Status) { st.Running = false }}},
	{"a stopped informer that watches", "stopped", "", editsStatus(func(st *informer.Status) { st.Watching = true })},
	{"a list of what is known that is told", "nothing new", "is told", mutant{extraCalls: 1}},
	{"a full state that never comes", "relists", "", mutant{hidesFullStates: true}},
	{"what a user has written is left as it is", "converges", "", mutant{skipsRelists: true}},
	{"a user who writes what is no pod", "by hand", "", mutant{writesOtherType: true}},
	{"an update delivered as a delete and an add", "needless", "a lost delete of what the list holds", delivers(func(_ *handler, c event) []event {
		if c.Kind == informer.Updated && c.Old != c.New {
			return []event{{Kind: informer.Deleted, Old: c.Old, Lost: true}, {Kind: informer.Added, New: c.New}}
		}
		return []event{c}
	})},
	{"who waits until all was delivered waits on", "await", "", mutant{waitsForever: true}},
	{"who waits until all was delivered waits for ever", "awaited", "", mutant{waitsForever: true}},
	{"all deletes are lost", "as seen", "a lost delete of what was seen to be deleted", mutant{deliver: func(a *handler, c event) []event {
		c.Lost = c.Lost || c.Kind == informer.Deleted && a.delivery == informer.Latest
		return []event{c}
	}}},
	{"a denial that lets everybody in", "unproved", "nobody has seen it deleted", mutant{worlds: newResourcePlan, ignoresDenial: true}},
	{"a resource that is missing, and is not said to be", "presence", "it is missing: true", mutant{worlds: newResourcePlan, status: func(st *informer.Status) { st.NotServedSince = time.Time{} }}},
	{"a resource that is there, and is said to be missing", "presence", "it is missing: false", mutant{worlds: newResourcePlan, status: func(st *informer.Status) { st.NotServedSince = time.Now() }}},
	{"an informer that does not run for its users", "tenants", "nothing runs", mutant{worlds: newTenantPlan, status: func(st *informer.Status) { st.Running = false }}},
	{"a lease that is not released", "tenants", "runs for nobody", mutant{worlds: newTenantPlan, leaksLease: true}},
	{"a factory that keeps unused informers", "held", "is kept", mutant{worlds: newTenantPlan, leaksLease: true}},
	{"an informer that is not kept for who asked for it", "held", "is there: false", mutant{worlds: newTenantPlan, ignoresPins: true}},
	{"who waits for the state of now does not wait", "fresh", "long after", mutant{worlds: newTenantPlan, skipsFreshWait: true}},
	{"who waits for the state of now waits on", "fresh", "in vain", mutant{worlds: newTenantPlan, waitsForever: true}},
	{"handlers that are told something after their lease", "quiet", "", mutant{worlds: newTenantPlan, callsAfterLeave: true}},
	{"a handler of a lease that misses the last change", "converges", "knows", mutant{worlds: newTenantPlan, deliver: dropsEvents(func(c event) bool { return c.Kind == informer.Updated }).deliver}},
	{"errors that are not counted", "status", "errors are counted", editsStatus(func(st *informer.Status) { st.Errors = 0 })},
	{"a last error that is forgotten", "status", "no last error", editsStatus(func(st *informer.Status) { st.LastError = nil })},
	{"a quarantine that is not counted", "status", "quarantined", editsStatus(func(st *informer.Status) { st.Quarantined++ })},
	{"an object in no index that is not counted", "status", "not indexed", editsStatus(func(st *informer.Status) { st.Unindexed++ })},
	{"a status of before", "status", "running", editsStatus(func(st *informer.Status) { st.Running = false })},
	{"a store that is not counted", "status", "objects are counted", editsStatus(func(st *informer.Status) { st.Objects++ })},
}

// plan draws a world for the mutant.
func (s mutant) plan(seed uint64) plan {
	if s.worlds == nil {
		return newPlan(seed)
	}
	return s.worlds(seed)
}

// serveNews gives some objects a version that they never had.
func serveNews(p *pod) {
	if m := markOf(p); m.serial%5 == 0 {
		mark{m.epoch, m.serial + 1000}.of(p)
	}
}

// swap delivers an update after the event that follows it.
func swap(a *handler, c event) []event {
	switch {
	case a.heldBack != nil:
		saved := *a.heldBack
		a.heldBack = nil
		return []event{c, saved}
	case c.Kind == informer.Updated:
		a.heldBack = &c
		return nil
	}
	return []event{c}
}

// Each checker finds its mutants, in some world.
func TestEachCheckerCanFail(t *testing.T) {
	tier.SkipRaced(t)
	for _, lie := range mutants {
		t.Run(lie.name, func(t *testing.T) {
			for seed := range uint64(150) {
				p := lie.mutant.plan(seed)
				if p.setup.lease && lie.mutant.unstableIndex {
					continue
				}
				for _, v := range run(t, p, lie.mutant).violations {
					if v.checker == lie.checker && strings.Contains(v.what, lie.reason) {
						return
					}
				}
			}
			t.Errorf("the checker %q has found nothing", lie.checker)
		})
	}
}
