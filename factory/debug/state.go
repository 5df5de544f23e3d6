package debug

import (
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/tidemark-k8s/tidemark/informer"
)

// State is what an informer is in. One that is in several is told in the weightiest, which
// is the first here.
type State string

const (
	// Stopped is an informer that has run and runs no more.
	Stopped State = "stopped"
	// NotServed is an informer of a resource that the server does not have.
	NotServed State = "not served"
	// Parked is an informer that the server refuses: it has no right to list or watch.
	Parked State = "parked"
	// Failing is an informer whose last list or watch has failed for another reason.
	Failing State = "failing"
	// NotStarted is an informer that has never run.
	NotStarted State = "not started"
	// Stuck is an informer with a handler that has not returned for 10 seconds.
	Stuck State = "stuck"
	// Stale is an informer that has heard nothing from the server for longer than a
	// healthy one is silent.
	Stale State = "stale"
	// Lagging is an informer with a handler whose backlog is above its bound.
	Lagging State = "lagging"
	// Quarantined is an informer that holds objects back that cannot be decoded,
	// transformed or indexed.
	Quarantined State = "quarantined"
	// Syncing is an informer whose first full state is still coming.
	Syncing State = "syncing"
	// Healthy is an informer with which nothing is wrong.
	Healthy State = "healthy"
)

// Tone says how a state is to be taken: good, quiet, busy, warn or bad.
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

// stuckAfter is how long a call of a handler may last.
const stuckAfter = 10 * time.Second

// examine returns what is wrong with an informer, in the order of the states.
func examine(s informer.Status, handlers []Handler, lastError string) (found []Finding) {
	add := func(is bool, state State, why string, args ...any) {
		if is {
			found = append(found, Finding{state, fmt.Sprintf(why, args...)})
		}
	}
	over := s.Stopped && !s.Running
	failing := s.Running && !s.Watching && s.LastError != nil && s.NotServedSince.IsZero()
	add(over, Stopped, "It has run and runs no more.")
	add(!s.NotServedSince.IsZero(), NotServed, "The server has not had the resource since %s.", s.NotServedSince.UTC().Format(time.TimeOnly+" UTC"))
	add(failing && refused(s.LastError), Parked, "%s", lastError)
	add(failing && !refused(s.LastError), Failing, "%s", lastError)
	add(!s.Running && !over && !s.Synced, NotStarted, "It has not been started.")
	for _, h := range handlers {
		add(h.Calling >= stuckAfter.Seconds(), Stuck, "Handler %s has not returned for %s; %s waiting.", h.Name, duration(h.Calling), many(h.Backlog, "event"))
	}
	add(s.Running && s.Stale, Stale, "The server was last heard %s ago.", duration(s.Staleness.Seconds()))
	for _, h := range handlers {
		add(h.Lagging, Lagging, "%s waiting for handler %s.", many(h.Backlog, "event"), h.Name)
	}
	add(s.Quarantined > 0, Quarantined, "%s cannot be decoded or transformed.", many(s.Quarantined, "object"))
	add(s.Unindexed > 0, Quarantined, "%s left out of an index.", many(s.Unindexed, "object"))
	add(s.Running && !s.Synced, Syncing, "The first full state is not complete.")
	return found
}

func refused(err error) bool { return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) }
