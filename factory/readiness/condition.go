package readiness

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/tidemark-k8s/tidemark/factory/internal/show"
	"github.com/tidemark-k8s/tidemark/informer"
)

// Condition is a problem that an informer may have.
type Condition string

const (
	// NotSynced means that the informer has never been synced. It always fails the probe.
	NotSynced Condition = "not synced"
	// Stopped means that the informer ran and has stopped.
	Stopped Condition = "stopped"
	// NotServed means that the server does not have the informer's resource.
	NotServed Condition = "not served"
	// Parked means that the server refuses the informer's requests, because it has no right to list or watch.
	Parked Condition = "parked"
	// Failing means that the last list or watch failed for another reason.
	Failing Condition = "failing"
	// Stale means that the server has sent nothing for longer than [Options.StaleAfter].
	Stale Condition = "stale"
	// Quarantined means that some objects cannot be decoded, transformed or indexed.
	Quarantined Condition = "quarantined"
	// Lagging means that a handler which has got the initial state has a backlog above [Options].MaxBacklog.
	Lagging Condition = "lagging"
)

// Finding is a problem of an informer and its reason.
type Finding struct {
	Condition Condition
	Why       string
}

// longestWhy is the length in bytes to which a reason is cut.
const longestWhy = 300

// Examine returns the problems of an informer, the most serious first, whether or not they fail a probe.
// While an informer is not synced, its last error is the reason for NotSynced, and not another problem.
func Examine(s informer.Status, o Options) (found []Finding) {
	for _, p := range show.Problems(s, o.StaleAfter, o.MaxBacklog) {
		if p.Error.Err != nil && !s.Synced {
			continue
		}
		found = append(found, Finding{Condition(p.Condition), oneLine(why(p, s))})
	}
	return found
}

// why describes a problem.
func why(p show.Problem, s informer.Status) string {
	switch p.Condition {
	case show.NotSynced:
		return cmp.Or(textOf(s.LastError), progress(s))
	case show.Stopped:
		return "it has stopped"
	case show.NotServed:
		return "since " + s.NotServedSince.UTC().Format(time.RFC3339)
	case show.Parked, show.Failing:
		return textOf(p.Error.Err)
	case show.Stale:
		return fmt.Sprintf("the server was last heard from %s ago", s.Staleness.Round(time.Second))
	case show.Quarantined:
		return heldBack(s)
	case show.Lagging:
		return fmt.Sprintf("%s waiting for handler %s", show.Many(p.Handler.Backlog, "event"), p.Handler.Name)
	}
	return ""
}

// progress describes the progress of an informer that has not failed.
func progress(s informer.Status) string {
	if !s.Running {
		return "it has not been started"
	}
	return show.Many(s.Objects, "object") + " so far"
}

// heldBack describes the objects that cannot be decoded, transformed or indexed.
func heldBack(s informer.Status) string {
	var all []string
	if s.Quarantined > 0 {
		all = append(all, show.Many(s.Quarantined, "object")+" cannot be decoded or transformed")
	}
	if s.Unindexed > 0 {
		all = append(all, show.Unindexed(s))
	}
	return strings.Join(all, "; ")
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// oneLine joins the lines of a text, and cuts a long one.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= longestWhy {
		return s
	}
	return strings.ToValidUTF8(s[:longestWhy], "") + "…"
}
