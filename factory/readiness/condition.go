package readiness

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/tidemark-k8s/tidemark/informer"
)

// Condition is a problem that an informer may have.
type Condition string

const (
	// NotSynced means the informer has never been synced. This condition always fails the probe.
	NotSynced Condition = "not synced"
	// Stopped means the informer has run and has stopped.
	Stopped Condition = "stopped"
	// NotServed means the server does not have the informer's resource.
	NotServed Condition = "not served"
	// Parked means the server refuses the informer's requests. It has no right to list or watch.
	Parked Condition = "parked"
	// Failing means the last list or watch has failed for another reason.
	Failing Condition = "failing"
	// Stale means the server has sent nothing for longer than [Options.StaleAfter].
	Stale Condition = "stale"
	// Quarantined means the informer holds back objects that cannot be decoded, transformed or
	// indexed.
	Quarantined Condition = "quarantined"
	// Lagging means a handler's backlog is above its bound.
	Lagging Condition = "lagging"
)

// Finding is a problem of an informer, and the reason.
type Finding struct {
	Condition Condition `json:"condition"`
	Why       string    `json:"why"`
}

// longestWhy is the length in bytes at which a reason is cut.
const longestWhy = 300

// Conditions are all conditions, the most serious first.
var Conditions = []Condition{NotSynced, Stopped, NotServed, Parked, Failing, Stale, Quarantined, Lagging}

// Examine returns the problems of an informer, the most serious first, whether or not they fail a
// probe. If staleAfter is positive, the informer is stale after that time; otherwise the status
// decides.
func Examine(s informer.Status, staleAfter time.Duration) (found []Finding) {
	add := func(is bool, c Condition, why string, args ...any) {
		if is {
			found = append(found, Finding{c, oneLine(fmt.Sprintf(why, args...))})
		}
	}
	add(!s.Synced, NotSynced, "%s", cmp.Or(textOf(s.LastError), progress(s)))
	add(s.Stopped && !s.Running, Stopped, "it has stopped")
	add(!s.NotServedSince.IsZero(), NotServed, "since %s", s.NotServedSince.UTC().Format(time.RFC3339))
	if s.Synced && s.Running && !s.Watching && s.LastError != nil && s.NotServedSince.IsZero() {
		add(refused(s.LastError), Parked, "%v", s.LastError)
		add(!refused(s.LastError), Failing, "%v", s.LastError)
	}
	stale := s.Stale
	if staleAfter > 0 {
		stale = s.Staleness > staleAfter
	}
	add(s.Running && stale, Stale, "the server was last heard from %s ago", s.Staleness.Round(time.Second))
	add(s.Quarantined > 0 || s.Unindexed > 0, Quarantined, "%d objects cannot be decoded or transformed, %d are missing from an index", s.Quarantined, s.Unindexed)
	for _, h := range s.Handlers {
		add(h.Lagging, Lagging, "%d events are waiting for handler %s", h.Backlog, h.Name)
	}
	return found
}

// progress describes the progress of an informer that has not failed.
func progress(s informer.Status) string {
	if !s.Running {
		return "it has not been started"
	}
	return fmt.Sprintf("%d objects so far", s.Objects)
}

func refused(err error) bool { return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) }

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// oneLine joins the lines of a text, and cuts it if it is long.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= longestWhy {
		return s
	}
	return strings.ToValidUTF8(s[:longestWhy], "") + "…"
}
