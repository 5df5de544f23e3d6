package sim_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// The operations that define the resource, and that deny requests.
const (
	denyRequests operation = "deny" // requests are denied, by denial n
	takeResource operation = "take" // the resource and its objects are removed
	giveResource operation = "give" // the resource is served, and requests are admitted
)

// resourceMenu is the menu of worlds whose resource comes and goes.
var resourceMenu = []menuItem{
	{write, 30, 6},
	{burst, 5, 60},
	{pass, 12, 50},
	{idle, 2, 12},
	{join, 8, len(kinds)},
	{leave, 3, 1},
	{unblock, 3, 1},
	{settle, 5, 1},
	{cutWatches, 4, 1},
	{compact, 4, 1},
	{failRequests, 3, len(failures)},
	{delayRequests, 2, 8},
	{endWatchEarly, 2, 4},
	{pollStatus, 4, 30},
	{trickleWrites, 4, 60},
	{denyRequests, 8, int(denials) - 1},
	{takeResource, 6, 1},
	{giveResource, 8, 1},
	{flapDefinition, 2, 20},
	{vanishingWatch, 3, 20},
}

// newResourcePlan draws a world whose resource comes and goes.
func newResourcePlan(seed uint64) plan {
	return drawPlan(seed, resourceMenu, func(s *setup, _ *rand.Rand) {
		s.custom = true
		s.lease, s.blank, s.versionless, s.zones, s.initialFailures = false, false, false, 0, 0
	})
}

var customs = schema.GroupResource{Group: "example.com", Resource: "pods"}

// denial says how the server denies requests.
type denial int

const (
	admitted   denial = iota
	hidden            // they get 404
	expired401        // they get 401
	denials
)

// resource is a custom resource that the server serves, denies or lacks. Only the driver uses it, except
// for code.
type resource struct {
	exists bool // the resource is not removed
	denial denial
	open   bool         // set by a mutant: all requests are admitted
	code   atomic.Int32 // the status code of requests, or 0 if they are served
	missed bool         // the resource was removed, and its watches have missed the deletions
	kept   map[key]mark // the cache's content since deletions cannot be proved; nil otherwise
}

// define creates or deletes the resource.
func (c *resource) define(exists bool) {
	c.exists = exists
	switch {
	case !exists || c.denial == hidden && !c.open:
		c.code.Store(http.StatusNotFound)
	case c.denial == expired401 && !c.open:
		c.code.Store(http.StatusUnauthorized)
	default:
		c.code.Store(0)
	}
}

// deny denies or admits requests from now on.
func (c *resource) deny(d denial) {
	c.denial = d
	c.define(c.exists)
	if d == admitted {
		c.kept = nil
	}
}

// unproved reports whether a client cannot know which objects were deleted.
func (c *resource) unproved() bool {
	return c.denial != admitted || !c.exists && c.missed
}

// lacksResource reports whether the world's resource is removed.
func (w *world) lacksResource() bool { return w.resource != nil && !w.resource.exists }

// served returns an error if requests are denied or the resource is removed.
func (s *source) served() error {
	if s.w.resource == nil {
		return nil
	}
	if code := s.w.resource.code.Load(); code != 0 {
		return apierrors.NewGenericServerResponse(int(code), "list", customs, "", "", 0, false)
	}
	return nil
}

// changeResource removes, restores or denies the resource, and ends its watches.
func (w *world) changeResource(s step, r *rand.Rand) {
	c := w.resource
	switch {
	case s.op == denyRequests:
		c.deny(denial(s.n))
		w.cutWatches()
		w.reach("denial", s.n)
	case s.op == takeResource && c.exists && kit.Closed(w.informer.Synced()):
		w.takeResource(r.IntN(2) == 0)
	case s.op == giveResource:
		c.define(true)
		c.deny(admitted)
	default:
		return
	}
	w.reach("operation", s.op)
}

// takeResource removes the resource and its objects. If seen is set, the watches send the deletions.
func (w *world) takeResource(seen bool) {
	for _, s := range w.sources {
		s.forgetList()
	}
	if seen {
		w.deletesAll()
	}
	w.resource.missed = !seen
	w.resource.define(false)
	w.cutWatches()
	if !seen {
		w.deletesAll()
	}
}

func (w *world) deletesAll() {
	for _, p := range w.model.live {
		w.commit(change{pod: p, gone: true})
	}
	synctest.Wait()
}

// cutWatches ends all watches of the resource. They are reopened only if it is served.
func (w *world) cutWatches() {
	for _, s := range w.sources {
		s.recordCause()
		for _, stream := range s.open() {
			stream.end()
		}
	}
	synctest.Wait()
}

// unproved checks that the cache keeps its objects while nothing proves their deletion.
func unproved(w *world) (problems []string) {
	c := w.resource
	if c == nil {
		return nil
	}
	if !c.unproved() {
		c.kept = nil
		return nil
	}
	for k, m := range c.kept {
		if _, ok := w.informer.Indexer().Get(k); !ok {
			problems = append(problems, fmt.Sprintf("the cache lacks %v@%v, but its deletion was not seen", k, m))
		}
	}
	c.kept = w.cached
	return problems
}

// presence checks that the status says whether the resource is served.
func presence(w *world) (problems []string) {
	if w.resource == nil {
		return nil
	}
	since := w.statusOf(w.informer).NotServedSince
	if missing := !w.resource.exists; missing == since.IsZero() {
		problems = append(problems, fmt.Sprintf("the status says missing: %v, since %v", missing, since))
	}
	return problems
}
