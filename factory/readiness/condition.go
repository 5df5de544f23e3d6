package readiness

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/tidemark-k8s/tidemark/informer"
)

// Condition is something that may be wrong with an informer.
type Condition string

const (
	// NotSynced is an informer that has never been complete. It always fails the probe.
	NotSynced Condition = "not synced"
	// Stopped is an informer that has run and runs no more.
	Stopped Condition = "stopped"
	// NotServed is an informer of a resource that the server does not have.
	NotServed Condition = "not served"
	// Parked is an informer that the server refuses: it has no right to list or watch.
	Parked Condition = "parked"
	// Failing is an informer whose last list or watch has failed for another reason.
	Failing Condition = "failing"
	// Stale is an informer that has heard nothing from the server for longer than
	// [Options.StaleAfter].
	Stale Condition = "stale"
	// Quarantined is an informer that holds objects back that cannot be decoded,
	// transformed or indexed.
	Quarantined Condition = "quarantined"
	// Lagging is an informer with a handler whose backlog is above its bound.
	Lagging Condition = "lagging"
)

// Finding is something that is wrong with an informer.
type Finding struct {
	Condition Condition `json:"condition"`
	Why       string    `json:"why"`
}

// longestWhy is how many bytes of a reason are told.
const longestWhy = 300

// Conditions are all conditions, the weightiest first.
var Conditions = []Condition{NotSynced, Stopped, NotServed, Parked, Failing, Stale, Quarantined, Lagging}

// Examine returns what is wrong with an informer, the weightiest first, whether a probe fails
// because of it or not. It is stale after staleAfter, or, where that is zero, when the status
// says so.
func Examine(s informer.Status, staleAfter time.Duration) (found []Finding) {
	add := func(is bool, c Condition, why string, args ...any) {
		if is {
			found = append(found, Finding{c, oneLine(fmt.Sprintf(why, args...))})
		}
	}
	add(!s.Synced, NotSynced, "%s", cmp.Or(textOf(s.LastError), begun(s)))
	add(s.Stopped && !s.Running, Stopped, "it has run and runs no more")
	add(!s.NotServedSince.IsZero(), NotServed, "since %s", s.NotServedSince.UTC().Format(time.RFC3339))
	if s.Synced && s.Running && !s.Watching && s.LastError != nil && s.NotServedSince.IsZero() {
		add(refused(s.LastError), Parked, "%v", s.LastError)
		add(!refused(s.LastError), Failing, "%v", s.LastError)
	}
	stale := s.Stale
	if staleAfter > 0 {
		stale = s.Staleness > staleAfter
	}
	add(s.Running && stale, Stale, "the server was last heard %s ago", s.Staleness.Round(time.Second))
	add(s.Quarantined > 0 || s.Unindexed > 0, Quarantined, "%d objects cannot be decoded or transformed, %d are missing from an index", s.Quarantined, s.Unindexed)
	for _, h := range s.Handlers {
		add(h.Lagging, Lagging, "%d events wait for handler %s", h.Backlog, h.Name)
	}
	return found
}

// begun says how far an informer is that has not failed.
func begun(s informer.Status) string {
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

// oneLine makes one line of a text that is not too long.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= longestWhy {
		return s
	}
	return strings.ToValidUTF8(s[:longestWhy], "") + "…"
}
