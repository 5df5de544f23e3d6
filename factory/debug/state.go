package debug

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/tidemark-k8s/tidemark/factory/internal/show"
	"github.com/tidemark-k8s/tidemark/informer"
)

// State is the state of an informer. If several states apply, the most serious one counts, which
// comes first here.
type State string

const (
	// Stopped means the informer has run and has stopped.
	Stopped State = "stopped"
	// NotServed means the server does not have the informer's resource.
	NotServed State = "not served"
	// Parked means the server refuses the informer's requests. It has no right to list or watch.
	Parked State = "parked"
	// Failing means the last list or watch has failed for another reason.
	Failing State = "failing"
	// NotStarted means the informer has never run.
	NotStarted State = "not started"
	// Stuck means a handler has not returned for 10 seconds.
	Stuck State = "stuck"
	// Stale means the server has been silent for longer than a healthy server is.
	Stale State = "stale"
	// Lagging means a handler's backlog is above its bound.
	Lagging State = "lagging"
	// Quarantined means the informer holds back objects that cannot be decoded, transformed or
	// indexed.
	Quarantined State = "quarantined"
	// Syncing means the first full state is not complete.
	Syncing State = "syncing"
	// Healthy means the informer has no problem.
	Healthy State = "healthy"
)

// Tone returns the severity of a state for its display: good, quiet, busy, warn or bad.
func (s State) Tone() string {
	switch s {
	case Healthy:
		return "good"
	case Syncing:
		return "busy"
	case Stopped, NotStarted:
		return "quiet"
	case Stale, Lagging, Quarantined:
		return "warn"
	}
	return "bad"
}

// stuckAfter is the duration of a handler's call after which it counts as stuck.
const stuckAfter = 10 * time.Second

// states are all states, the most serious first.
var states = []State{Stopped, NotServed, Parked, Failing, NotStarted, Stuck, Stale, Lagging, Quarantined, Syncing, Healthy}

// examine returns the problems of an informer, in the order of the states.
func examine(of subject, s informer.Status, handlers []Handler) (found []Finding) {
	add := func(is bool, state State, why string, args ...any) {
		if is {
			found = append(found, Finding{state, fmt.Sprintf(why, args...)})
		}
	}
	for _, p := range show.Problems(s, 0) {
		switch p.Condition {
		case show.Stopped:
			add(true, Stopped, "The informer has stopped.")
		case show.NotServed:
			add(true, NotServed, "The server has not had the resource since %s.", s.NotServedSince.UTC().Format(time.TimeOnly+" UTC"))
		case show.Parked, show.Failing:
			add(true, State(p.Condition), "%s", of.errorText(p.Error.Class, p.Error.Err))
		case show.NotSynced:
			add(!s.Running && !s.Stopped, NotStarted, "The informer has not been started.")
			add(s.Running, Syncing, "The first full state is not complete.")
		case show.Stale:
			add(true, Stale, "The server was last heard from %s ago.", duration(s.Staleness.Seconds()))
		case show.Lagging:
			add(true, Lagging, "%s waiting for handler %s.", many(p.Handler.Backlog, "event"), printable(p.Handler.Name))
		case show.Quarantined:
			add(s.Quarantined > 0, Quarantined, "%s cannot be decoded or transformed.", many(s.Quarantined, "object"))
			add(s.Unindexed > 0, Quarantined, "%s missing from an index.", many(s.Unindexed, "object"))
		}
	}
	for _, h := range handlers {
		add(h.Calling >= stuckAfter.Seconds(), Stuck, "Handler %s has not returned for %s; %s waiting.", h.Name, duration(h.Calling), many(h.Backlog, "event"))
	}
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Compare(slices.Index(states, a.State), slices.Index(states, b.State))
	})
	return found
}
