package show

import (
	"cmp"
	"time"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// Condition is a kind of problem. Package readiness has the same conditions, and explains them.
type Condition string

// The conditions, the most serious first.
const (
	NotSynced   Condition = "not synced"
	Stopped     Condition = "stopped"
	NotServed   Condition = "not served"
	Parked      Condition = "parked"
	Failing     Condition = "failing"
	Stale       Condition = "stale"
	Quarantined Condition = "quarantined"
	Lagging     Condition = "lagging"
)

// Problem is a problem of an informer.
type Problem struct {
	Condition Condition
	Error     informer.RecentError   // of Parked and Failing
	Handler   informer.HandlerStatus // of Lagging
}

// defaultMaxBacklog is the backlog above which a handler lags by default.
const defaultMaxBacklog = 10_000

// Lags reports whether a handler's backlog is above maxBacklog; zero stands for 10,000. A handler that has
// not got the whole initial state does not lag.
func Lags(h informer.HandlerStatus, maxBacklog int) bool {
	return h.Synced && h.Backlog > cmp.Or(maxBacklog, defaultMaxBacklog)
}

// Problems returns the problems of an informer, the most serious first. If staleAfter is positive, the
// informer is stale after that time. Otherwise the status decides.
func Problems(s informer.Status, staleAfter time.Duration, maxBacklog int) (found []Problem) {
	add := func(is bool, p Problem) {
		if is {
			found = append(found, p)
		}
	}
	absent := !s.NotServedSince.IsZero()
	stale := s.Stale
	if staleAfter > 0 {
		stale = s.Staleness > staleAfter && !absent // the server sends nothing about a resource that it does not have
	}
	add(!s.Synced, Problem{Condition: NotSynced})
	add(s.Stopped && !s.Running, Problem{Condition: Stopped})
	add(absent, Problem{Condition: NotServed})
	for _, e := range s.Failing {
		add(s.Running && refused(e.Class), Problem{Condition: Parked, Error: e})
	}
	for _, e := range s.Failing {
		add(s.Running && !refused(e.Class), Problem{Condition: Failing, Error: e})
	}
	add(s.Running && stale, Problem{Condition: Stale})
	add(s.Quarantined > 0 || s.Unindexed > 0, Problem{Condition: Quarantined})
	for _, h := range s.Handlers {
		add(s.Running && Lags(h, maxBacklog), Problem{Condition: Lagging, Handler: h}) // a stopped informer drops its undelivered events
	}
	return found
}

// refused reports whether an error means that the informer has no right to list or watch.
func refused(c reflector.ErrorClass) bool {
	return c == reflector.ErrorForbidden || c == reflector.ErrorUnauthorized
}
