package sim_test

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/tier"
	"github.com/tidemark-k8s/tidemark/shard"
)

// ownMutant is a deviation that a checker of a world of own writes must find. The zero value injects
// nothing.
type ownMutant struct {
	unseen           bool   // the program's writes do not pass through the OwnWrites
	holdsCalls       bool   // the call of a write takes seconds
	losesEvents      bool   // watches deliver no updates
	ignoresSelectors bool   // sources get everything
	hidesLists       bool   // full states are not counted
	evictsNothing    bool   // the budget is larger than it should be
	scribbles        bool   // a program writes into everything that it reads
	staleIndex       bool   // an index lacks an object
	findsOlder       bool   // a query lacks an object
	auditsPending    bool   // an audit finds something
	madeByVersion    bool   // Made compares only the new version
	countsWaiting    bool   // each write counts as one that could not be shown
	skipsFresh       bool   // WaitFresh is not called
	ghosts           uint64 // added to the number in the status
	shows            func(all map[key]kit.APIObject) map[key]kit.APIObject
	tells            func(e ownEvent) []ownEvent
	offByOne         func(shard.Set) shard.Set // changes the informer's share
	forgetsSelector  bool                      // requests have no shardSelector
	losesReplica     bool                      // a replica's store is empty
	status           func(*informer.Status)
	cancels          bool // watches break as if they were canceled
}

func (m ownMutant) store(all map[key]kit.APIObject) map[key]kit.APIObject {
	if m.shows == nil {
		return all
	}
	return m.shows(all)
}

func (m ownMutant) event(e ownEvent) []ownEvent {
	if m.tells == nil {
		return []ownEvent{e}
	}
	return m.tells(e)
}

// showsAnother returns a mutant in which the store shows another state of its first object.
func showsAnother(change func(all map[key]kit.APIObject, k key)) ownMutant {
	return ownMutant{shows: func(all map[key]kit.APIObject) map[key]kit.APIObject {
		if keys := slices.SortedFunc(maps.Keys(all), byName); len(keys) > 0 {
			change(all, keys[0])
		}
		return all
	}}
}

// tellsTwice returns a mutant in which handlers get some events twice.
func tellsTwice(kind string) ownMutant {
	return ownMutant{tells: func(e ownEvent) []ownEvent {
		if e.Kind == kind {
			return []ownEvent{e, e}
		}
		return []ownEvent{e}
	}}
}

// endsLater returns a share with ranges that end one hash later.
func endsLater(share shard.Set) shard.Set {
	var ranges []shard.Range
	for r := range share.Ranges() {
		if r.To != 0 {
			r.To++
		}
		ranges = append(ranges, r)
	}
	later, err := shard.Of(share.Field(), ranges...)
	must(err)
	return later
}

// editsVersion returns a mutant in which the status has another version of the store.
func editsVersion(edit func(version int) int) ownMutant {
	return ownMutant{status: func(st *informer.Status) {
		if version, err := strconv.Atoi(st.Version); err == nil {
			st.Version = strconv.Itoa(edit(version))
		}
	}}
}

// ownMutants has at least one mutant for each checker.
var ownMutants = []struct {
	name, checker, reason string
	mutant                ownMutant
}{
	{"a write that the store does not show", "current", "the program's own write", ownMutant{unseen: true}},
	{"an old list removes a write", "current", "older than", showsAnother(func(all map[key]kit.APIObject, k key) { delete(all, k) })},
	{"a transform that is skipped", "current", "differs from the server's", showsAnother(func(all map[key]kit.APIObject, k key) {
		o := all[k].DeepCopyObject().(kit.APIObject)
		o.SetFinalizers([]string{"example.com/other"})
		all[k] = o
	})},
	{"a version that never was", "current", "never had", showsAnother(func(all map[key]kit.APIObject, k key) {
		o := all[k].DeepCopyObject().(kit.APIObject)
		o.SetResourceVersion("9999")
		all[k] = o
	})},
	{"an object decoded with another object's base", "current", "differs from the server's", showsAnother(func(all map[key]kit.APIObject, k key) {
		o := all[k].DeepCopyObject().(kit.APIObject)
		o.SetGeneration(77)
		all[k] = o
	})},
	{"a budget that evicts nothing", "storage", "are used", ownMutant{evictsNothing: true}},
	{"an object that is changed while it is held", "frozen", "was changed", ownMutant{scribbles: true}},
	{"an object that no source reads", "current", "no source reads", ownMutant{ignoresSelectors: true}},
	{"an index that is not updated", "reads", "the index has", ownMutant{staleIndex: true}},
	{"a query that does not find a write", "found", "", ownMutant{findsOlder: true}},
	{"an object before the first full state", "early", "", ownMutant{hidesLists: true}},
	{"an echo that is delivered", "events", "", tellsTwice("updated")},
	{"a deletion that is delivered twice", "events", "an unknown object, but not an add", tellsTwice("deleted")},
	{"an event that is not delivered", "events", "but the store has", ownMutant{tells: func(e ownEvent) []ownEvent {
		if e.Kind == "deleted" {
			return nil
		}
		return []ownEvent{e}
	}}},
	{"Made compares only the version", "made", "", ownMutant{madeByVersion: true}},
	{"a ghost", "ghost", "", ownMutant{ghosts: 1}},
	{"an answer that is not shown without a reason", "shown", "", ownMutant{countsWaiting: true}},
	{"a call that is held", "call", "", ownMutant{holdsCalls: true}},
	{"watches that lose updates", "settles", "the server", ownMutant{losesEvents: true}},
	{"an audit that counts what is pending", "audit", "", ownMutant{auditsPending: true}},
	{"a wait that does not wait", "fresh", "", ownMutant{skipsFresh: true}},
	{"a filter that is off by one at the end of a range", "share", "the store of", ownMutant{offByOne: endsLater}},
	{"an object in two stores", "union", "of 2 informers", ownMutant{offByOne: func(s shard.Set) shard.Set { return shard.Whole(s.Field()) }}},
	{"an object that no informer reads", "union", "of 0 informers", ownMutant{losesReplica: true}},
	{"a share that is sent as everything", "requests", "asks with", ownMutant{forgetsSelector: true}},
	{"an object of another share, which is shown or stays", "share", "has", showsAnother(func(all map[key]kit.APIObject, k key) {
		o := all[k].DeepCopyObject().(kit.APIObject)
		o.SetUID(o.GetUID() + "x")
		all[k] = o
	})},
	{"a status of another share", "version", "the status says", ownMutant{status: func(st *informer.Status) { st.Shard.Share = shard.Set{} }}},
	{"a time-out that is a failure", "canceled", "", ownMutant{cancels: true}},
	{"a version that goes back", "version", "went back", editsVersion(func(version int) int { return 100_000 - version })},
	{"progress in front of an own event", "current", "of the store's version", editsVersion(func(version int) int { return version + 1000 })},
	{"an update delivered as a delete", "events", "a delete of what exists", ownMutant{tells: func(e ownEvent) []ownEvent {
		if e.Kind == "updated" {
			return []ownEvent{{Kind: "deleted", Old: e.Old}}
		}
		return []ownEvent{e}
	}}},
}

// Each checker of the worlds of own writes finds its mutants in some world.
func TestEachCheckerOfOwnWritesCanFail(t *testing.T) {
	tier.SkipRaced(t)
	for _, lie := range ownMutants {
		t.Run(lie.name, func(t *testing.T) {
			for seed := range uint64(150) {
				for _, v := range runOwn(t, newOwnPlan(seed), lie.mutant).violations {
					if v.checker == lie.checker && strings.Contains(v.what, lie.reason) {
						return
					}
				}
			}
			t.Errorf("the checker %q has not found its mutant", lie.checker)
		})
	}
}

func (m ownMutant) loses(line []byte) bool {
	return m.losesEvents && bytes.HasPrefix(line, []byte(`{"type":"MODIFIED"`))
}
