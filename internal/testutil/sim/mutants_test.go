package sim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/tier"
)

// mutant is a deviation that is injected between the informer and the checkers, and that a checker must
// find. The zero value injects nothing.
type mutant struct {
	deliver          func(a *handler, c event) []event // changes the events of a handler
	serve            func(p *pod)                      // changes the objects of the server
	status           func(*informer.Status)
	worlds           func(seed uint64) plan // draws the worlds to use; nil for ordinary worlds
	leaksLease       bool                   // a lease is not released
	ignoresPins      bool                   // informers are not pinned
	skipsFreshWait   bool                   // WaitFresh is not called
	ignoresDenial    bool                   // denied requests are served
	skipsStatus      bool                   // the status is not read
	looksAway        bool                   // callbacks do not call Look
	unstableIndex    bool                   // the result of an index function depends on more than the object
	sameIndex        bool                   // an index is added twice
	silentWatches    bool                   // watches deliver no events
	hidesFullStates  bool                   // lists are not counted
	skipsRelists     bool                   // sources do not relist after a user's write
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
	rewindsCache     bool                   // the cache seems to have had newer versions
	keepsHot         bool                   // Get seems to return an earlier result
	swapsBases       bool                   // some objects contain parts of others
	evictsNothing    bool                   // the budget is larger than it should be
	changesStored    bool                   // a stored object is changed
	staleLists       bool                   // a list is outdated
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

// editsEvents returns a mutant that changes each event.
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

// delaysEvents returns a mutant that makes each handler call take time.
func delaysEvents(d time.Duration) mutant {
	return editsEvents(func(*handler, *event) { time.Sleep(d) })
}

// editsStatus returns a mutant that changes the status.
func editsStatus(edit func(*informer.Status)) mutant { return mutant{status: edit} }

// mutantCase is a mutant, and the checker that must find it in some world for this reason.
type mutantCase struct {
	name, checker, reason string
	mutant                mutant
}

// mutants has at least one mutant for each checker, and at least one for each reason of eventCheckers.
var mutants = []mutantCase{
	{"the server sends a state that never existed", "true", "a state that never existed", mutant{serve: serveNews}},
	{"the cache holds a state that never existed", "cached", "never existed", mutant{serve: serveNews}},
	{"an object decoded with another object's base", "content", "an object that differs from the server's", mutant{swapsBases: true}},
	{"a stored object decoded with another object's base", "cached", "differs from the server's", mutant{swapsBases: true}},
	{"an old decoded object stays after a put", "cached", "Get and a list differ", mutant{keepsHot: true}},
	{"a budget that evicts nothing", "storage", "are used", mutant{evictsNothing: true}},
	{"decoded objects that the budget does not count", "storage", "are decoded in a budget", mutant{evictsNothing: true}},
	{"pinned objects that no user has written", "storage", "are pinned", editsStatus(func(st *informer.Status) { st.Storage.Pinned += 1000 })},
	{"an informer of decoded objects that packs", "storage", "nothing is packed", editsStatus(func(st *informer.Status) { st.Storage.Packed++ })},
	{"the cache goes back", "cached", "went back", mutant{rewindsCache: true}},
	{"a handler gets an earlier event again", "never back", "a version older", delivers(func(_ *handler, c event) []event {
		if c.Kind == informer.Updated && c.Old != c.New {
			return []event{c, {Kind: informer.Updated, Old: c.New, New: c.Old}}
		}
		return []event{c}
	})},
	{"two changes are swapped", "never back", "a version older", delivers(swap)},
	{"a change has no kind", "known", "no kind", editsEvents(func(_ *handler, c *event) { c.Kind = 0 })},
	{"an add comes twice", "known", "an add of a known object", duplicatesEvents(func(c event) bool { return c.Kind == informer.Added })},
	{"a delete comes twice", "known", "an unknown object, but not an add", duplicatesEvents(func(c event) bool { return c.Kind == informer.Deleted })},
	{"an add has an old object", "old", "an add with an old object", editsEvents(func(_ *handler, c *event) {
		if c.Kind == informer.Added {
			c.Old = c.New
		}
	})},
	{"the old object is another version", "old", "an update whose old object is not the last one", editsEvents(func(_ *handler, c *event) {
		if c.Kind == informer.Updated {
			c.Old = c.Old.DeepCopy()
		}
	})},
	{"a lost delete has another last state", "old", "a lost delete of an object that is not the last one", editsEvents(func(_ *handler, c *event) {
		if c.Kind == informer.Deleted {
			c.Old, c.Lost = c.Old.DeepCopy(), true
		}
	})},
	{"a delete has a new object", "old", "a delete with a new object", editsEvents(func(_ *handler, c *event) {
		if c.Kind == informer.Deleted {
			c.New = c.Old
		}
	})},
	{"an update is initial", "initial", "a flag that does not belong to this kind of event", editsEvents(func(_ *handler, c *event) {
		c.Initial = c.Initial || c.Kind == informer.Updated
	})},
	{"an add is lost", "initial", "a flag that does not belong to this kind of event", editsEvents(func(_ *handler, c *event) {
		c.Lost = c.Lost || c.Kind == informer.Added
	})},
	{"all adds are initial", "initial", "an initial add after the handler was synced", editsEvents(func(_ *handler, c *event) {
		c.Initial = c.Kind == informer.Added
	})},
	{"an initial add comes twice", "initial", "a second initial add", duplicatesEvents(func(c event) bool { return c.Initial })},
	{"an initial add is of another object", "initial", "an initial add of an object that was not stored when the handler joined", editsEvents(func(_ *handler, c *event) {
		if c.Initial {
			c.New = c.New.DeepCopy()
		}
	})},
	{"no add is initial", "synced early", "initial objects", editsEvents(func(_ *handler, c *event) { c.Initial = false })},
	{"all handlers are synced at once", "synced early", "before the informer", mutant{syncedAtOnce: true}},
	{"no handler is synced", "synced late", "not synced", mutant{neverSynced: true}},
	{"a delete gets lost", "fold", "", dropsEvents(func(c event) bool {
		return c.Kind == informer.Deleted && !c.Lost && markOf(c.Old).serial%3 == 0
	})},
	{"the last change gets lost", "fold", "", dropsEvents(func(c event) bool {
		return c.Kind == informer.Updated && markOf(c.New).serial > 40
	})},
	{"two changes at a time", "one at a time", "", editsEvents(func(a *handler, _ *event) { a.busy.Store(true) })},
	{"a change is delivered before it is stored", "stored first", "", editsEvents(func(_ *handler, c *event) {
		if c.New != nil {
			c.New = c.New.DeepCopy()
			m := markOf(c.New)
			mark{m.epoch, m.serial + 1}.of(c.New)
		}
	})},
	{"an index function that changes its mind", "index", "", mutant{unstableIndex: true}},
	{"an index that exists already", "indexed", "", mutant{sameIndex: true}},
	{"an outdated list", "reads", "", mutant{staleLists: true}},
	{"a query that misses one", "selectors", "", mutant{dropsQueryResult: true}},
	{"a compound query that misses one", "found", "", mutant{dropsQueryResult: true}},
	{"a backlog without a bound", "latest", "", mutant{extraBacklog: 10_000}},
	{"watches without events", "converges", "", mutant{silentWatches: true}},
	{"a server that does not come back", "restored", "", mutant{staysDown: true}},
	{"lost bookmarks", "catches up", "", mutant{losesBookmarks: true}},
	{"handlers that take forever", "delivered", "", delaysEvents(20 * time.Minute)},
	{"handlers that do not end", "stops", "", delaysEvents(3 * time.Second)},
	{"a nil handler joins", "joins", "", mutant{nilHandler: true}},
	{"handlers that get an event after they left", "quiet", "", mutant{callsAfterLeave: true}},
	{"handlers that get an event after the stop", "asleep", "", mutant{callsAfterStop: true}},
	{"a watch that does not stop", "goroutines", "", mutant{watchIgnoresStop: true}},
	{"twenty requests instead of one", "budget", "", mutant{extraRequests: 20}},
	{"twenty requests at a time", "pace", "", mutant{extraRequests: 20}},
	{"a delivered object is changed", "frozen", "", mutant{changesStored: true}},
	{"a last event that moves back", "looked", "", editsStatus(func(st *informer.Status) { st.LastEvent = time.Unix(0, -time.Now().UnixNano()) })},
	{"an informer that does not run as it stops", "running", "", mutant{status: func(st *informer.Status) { st.Running = false }}},
	{"a stopped informer that watches", "stopped", "", editsStatus(func(st *informer.Status) { st.Watching = true })},
	{"a list of known objects that is delivered", "nothing new", "changes from a list", mutant{extraCalls: 1}},
	{"a full state that never comes", "relists", "", mutant{hidesFullStates: true}},
	{"a user's write that is never replaced", "converges", "", mutant{skipsRelists: true}},
	{"a user who writes an object that is not a pod", "by hand", "", mutant{writesOtherType: true}},
	{"an update delivered as a delete and an add", "needless", "a lost delete of an object in the list", delivers(func(_ *handler, c event) []event {
		if c.Kind == informer.Updated && c.Old != c.New {
			return []event{{Kind: informer.Deleted, Old: c.Old, Lost: true}, {Kind: informer.Added, New: c.New}}
		}
		return []event{c}
	})},
	{"WaitDelivered that does not return", "await", "", mutant{waitsForever: true}},
	{"WaitDelivered that never returns", "awaited", "", mutant{waitsForever: true}},
	{"all deletes are lost", "as seen", "a lost delete of an object whose delete was seen", mutant{deliver: func(a *handler, c event) []event {
		c.Lost = c.Lost || c.Kind == informer.Deleted && a.delivery == informer.Latest
		return []event{c}
	}}},
	{"a denial that denies nothing", "unproved", "its deletion was not seen", mutant{worlds: newResourcePlan, ignoresDenial: true}},
	{"a missing resource that the status does not report", "presence", "the status says missing: true", mutant{worlds: newResourcePlan, status: func(st *informer.Status) { st.NotServedSince = time.Time{} }}},
	{"an existing resource that the status reports as missing", "presence", "the status says missing: false", mutant{worlds: newResourcePlan, status: func(st *informer.Status) { st.NotServedSince = time.Now() }}},
	{"an informer that does not run for its users", "tenants", "no informer runs", mutant{worlds: newTenantPlan, status: func(st *informer.Status) { st.Running = false }}},
	{"a lease that is not released", "tenants", "runs without users", mutant{worlds: newTenantPlan, leaksLease: true}},
	{"a factory that keeps unused informers", "held", "is kept", mutant{worlds: newTenantPlan, leaksLease: true}},
	{"an informer that is not kept for its user", "held", "exists: false", mutant{worlds: newTenantPlan, ignoresPins: true}},
	{"WaitFresh that does not wait", "fresh", "long after", mutant{worlds: newTenantPlan, skipsFreshWait: true}},
	{"WaitFresh that does not return", "fresh", "has not returned", mutant{worlds: newTenantPlan, waitsForever: true}},
	{"handlers that get an event after their lease", "quiet", "", mutant{worlds: newTenantPlan, callsAfterLeave: true}},
	{"a handler of a lease that misses the last change", "converges", "knows", mutant{worlds: newTenantPlan, deliver: dropsEvents(func(c event) bool { return c.Kind == informer.Updated }).deliver}},
	{"errors that are not counted", "status", "errors are counted", editsStatus(func(st *informer.Status) { st.Errors = 0 })},
	{"a last error that is forgotten", "status", "no last error", editsStatus(func(st *informer.Status) { st.LastError = nil })},
	{"a quarantine that is not counted", "status", "quarantined", editsStatus(func(st *informer.Status) { st.Quarantined++ })},
	{"an object in no index that is not counted", "status", "not indexed", editsStatus(func(st *informer.Status) { st.Unindexed++ })},
	{"an outdated status", "status", "running", editsStatus(func(st *informer.Status) { st.Running = false })},
	{"a store that is not counted", "status", "objects are counted", editsStatus(func(st *informer.Status) { st.Objects++ })},
}

// plan draws a world for the mutant.
func (s mutant) plan(seed uint64) plan {
	if s.worlds == nil {
		return newPlan(seed)
	}
	return s.worlds(seed)
}

// serveNews gives some objects a version that never existed.
func serveNews(p *pod) {
	if m := markOf(p); m.serial%5 == 0 {
		mark{m.epoch, m.serial + 1000}.of(p)
	}
}

// swap delivers an update after the next event.
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

// Each checker finds its mutants in some world.
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
			t.Errorf("the checker %q has not found its mutant", lie.checker)
		})
	}
}
