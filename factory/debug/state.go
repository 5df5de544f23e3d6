package debug

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/tidemark-k8s/tidemark/factory/internal/show"
	"github.com/tidemark-k8s/tidemark/informer"
)

// state is the state of an informer. If several states apply, the most serious one counts; the constants are
// in that order.
type state string

const (
	// stateStopped means that the informer ran and has stopped.
	stateStopped state = "stopped"
	// stateNotServed means that the server does not have the informer's resource.
	stateNotServed state = "not served"
	// stateParked means that the server refuses the informer's requests, because it has no right to list or
	// watch.
	stateParked state = "parked"
	// stateFailing means that the last list or watch failed for another reason.
	stateFailing state = "failing"
	// stateNotStarted means that the informer has never run.
	stateNotStarted state = "not started"
	// stateStuck means that a handler has not returned for 10 seconds.
	stateStuck state = "stuck"
	// stateStale means that the server has been silent for longer than a healthy server is.
	stateStale state = "stale"
	// stateLagging means that more than 10,000 events wait for a handler.
	stateLagging state = "lagging"
	// stateQuarantined means that some objects cannot be decoded, transformed or indexed.
	stateQuarantined state = "quarantined"
	// stateSyncing means that the first full state is not complete.
	stateSyncing state = "syncing"
	// stateHealthy means that the informer has no problems.
	stateHealthy state = "healthy"
)

// Tone returns the severity of a state for its display: good, quiet, busy, warn or bad.
func (s state) Tone() string {
	switch s {
	case stateHealthy:
		return "good"
	case stateSyncing:
		return "busy"
	case stateStopped, stateNotStarted:
		return "quiet"
	case stateStale, stateLagging, stateQuarantined:
		return "warn"
	}
	return "bad"
}

// stuckAfter is the duration after which a handler's call counts as stuck.
const stuckAfter = 10 * time.Second

// states are all states, the most serious first.
var states = []state{stateStopped, stateNotServed, stateParked, stateFailing, stateNotStarted, stateStuck, stateStale, stateLagging, stateQuarantined, stateSyncing, stateHealthy}

// examine returns the problems of an informer, in the order of the states.
func examine(of subject, s informer.Status, handlers []shownHandler) (found []finding) {
	add := func(is bool, state state, why string, args ...any) {
		if is {
			found = append(found, finding{state, fmt.Sprintf(why, args...)})
		}
	}
	for _, p := range show.Problems(s, 0, 0) {
		switch p.Condition {
		case show.Stopped:
			add(true, stateStopped, "The informer has stopped.")
		case show.NotServed:
			add(true, stateNotServed, "The server has not had the resource since %s.", s.NotServedSince.UTC().Format(time.TimeOnly+" UTC"))
		case show.Parked, show.Failing:
			add(true, state(p.Condition), "%s", of.errorText(p.Error.Class, p.Error.Err))
		case show.NotSynced:
			add(!s.Running && !s.Stopped, stateNotStarted, "The informer has not been started.")
			add(s.Running, stateSyncing, "The first full state is not complete.")
		case show.Stale:
			add(true, stateStale, "The server was last heard from %s ago.", duration(s.Staleness.Seconds()))
		case show.Lagging:
			add(true, stateLagging, "%s waiting for handler %s.", show.Many(p.Handler.Backlog, "event"), printable(p.Handler.Name))
		case show.Quarantined:
			add(s.Quarantined > 0, stateQuarantined, "%s cannot be decoded or transformed.", show.Many(s.Quarantined, "object"))
			add(s.Unindexed > 0, stateQuarantined, "%s.", oneLine(show.Unindexed(s)))
		}
	}
	for _, h := range handlers {
		add(h.Calling >= stuckAfter.Seconds(), stateStuck, "Handler %s has not returned for %s; %s waiting.", h.Name, duration(h.Calling), show.Many(h.Backlog, "event"))
	}
	slices.SortStableFunc(found, func(a, b finding) int {
		return cmp.Compare(slices.Index(states, a.State), slices.Index(states, b.State))
	})
	return found
}
