package sim_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
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

// The sources ask for the resource in wantedVersion.
const wantedVersion, otherVersion = "v1", "v2"

// denial says how the server denies requests.
type denial int

const (
	admitted   denial = iota
	lacking           // requests for the resource get 404
	elsewhere         // the resource is served in another version only
	lost404           // all requests get 404
	expired401        // all requests get 401
	denials
)

// code returns the status code of a denied request, 0 if the request is served.
func (d denial) code(r *http.Request) int {
	switch {
	case d == lost404, d == lacking && strings.HasSuffix(r.URL.Path, "/"+customs.Resource):
		return http.StatusNotFound
	case d == expired401:
		return http.StatusUnauthorized
	}
	return 0
}

// resource is a custom resource, and a server that serves it or denies access. Only the driver uses it.
type resource struct {
	server *informertest.Server // has discovery, but no objects
	client *dynamic.DynamicClient
	exists bool         // it is not removed
	served string       // the served version, or ""
	denial atomic.Int32 // a denial
	open   bool         // set by a mutant: nothing is denied
	stays  bool         // set by a mutant: a removed resource is still in discovery
	kept   map[key]mark // the cache's content since no deletion can be proved, nil otherwise
}

// newResource starts a server with the resource.
func newResource() *resource {
	c := &resource{server: informertest.New(informertest.Options{})}
	c.must(c.server.StartInMemory())
	config := c.server.ClientConfig()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return denyingServer{c, next} })
	client, err := dynamic.NewForConfig(config)
	c.must(err)
	c.client = client
	c.exists = true
	c.serve(wantedVersion)
	return c
}

func (c *resource) must(err error) {
	if err != nil {
		panic(fmt.Sprintf("the world is wrong: %v", err))
	}
}

// serve makes the server serve the resource in one version, or not at all.
func (c *resource) serve(version string) {
	if c.served != "" {
		c.must(c.server.Unregister(customs.WithVersion(c.served)))
	}
	if c.served = version; version != "" {
		c.must(c.server.Register(informertest.Kind{
			GVR: customs.WithVersion(version), Namespaced: true,
			GVK: schema.GroupVersionKind{Group: customs.Group, Version: version, Kind: "Pod"},
		}))
	}
}

// define creates or deletes the resource.
func (c *resource) define(exists bool) {
	c.exists = exists
	switch {
	case !exists && c.stays:
		c.server.Intercept(func(context.Context, informertest.Request) error { return apierrors.NewNotFound(customs, "") })
	case !exists:
		c.serve("")
	case denial(c.denial.Load()) == elsewhere:
		c.serve(otherVersion)
	default:
		c.serve(wantedVersion)
	}
}

// deny denies requests from now on.
func (c *resource) deny(d denial) {
	c.denial.Store(int32(d))
	c.define(c.exists)
}

// admit ends the denial.
func (c *resource) admit() {
	c.denial.Store(int32(admitted))
	c.define(c.exists)
	c.kept = nil
}

// unproved reports whether a client cannot know that the resource was removed: it was not removed,
// or the client's requests are denied.
func (c *resource) unproved() bool {
	d := denial(c.denial.Load())
	return (d == lacking || d == elsewhere) && c.exists || d > elsewhere
}

// denyingServer denies requests before they reach the server.
type denyingServer struct {
	resource *resource
	next     http.RoundTripper
}

func (b denyingServer) RoundTrip(r *http.Request) (*http.Response, error) {
	if code := denial(b.resource.denial.Load()).code(r); code != 0 && !b.resource.open {
		return &http.Response{StatusCode: code, Request: r, Body: http.NoBody, Header: http.Header{}}, nil
	}
	return b.next.RoundTrip(r)
}

// custom is a source from which the reflector can unwrap a client of the resource.
type custom struct {
	*source
	asked reflector.Source
}

var (
	_ reflector.Source   = custom{}
	_ reflector.Streamer = custom{}
)

// Unwrap returns a source with a real client.
func (c custom) Unwrap() reflector.Source { return c.asked }

// sourceOf returns the informer's view of a source.
func (w *world) sourceOf(s *source) reflector.Source {
	if w.resource == nil {
		return s
	}
	s.asked = reflector.FromDynamic(w.resource.client, customs.WithVersion(wantedVersion), "")
	return custom{s, s.asked}
}

// served returns the error of a request if it is denied, or if the resource is not served in the
// reflector's version.
func (s *source) served(ctx context.Context) error {
	if s.asked == nil {
		return nil
	}
	_, err := s.asked.List(ctx, metav1.ListOptions{Limit: 1})
	return err
}

// changeResource removes, restores or denies the resource, and ends its watches.
func (w *world) changeResource(s step, r *rand.Rand) {
	c := w.resource
	switch {
	case s.op == denyRequests:
		c.deny(denial(s.n))
		w.cutWatches()
		w.reach("denial", s.n)
	case s.op == takeResource && c.exists && closed(w.informer.Synced()):
		w.takeResource(r.IntN(2) == 0)
	case s.op == giveResource:
		c.exists = c.exists || !c.stays
		c.admit()
	default:
		return
	}
	w.reach("operation", s.op)
}

// takeResource removes the resource and its objects. If seen is set, the watches see the deletions.
func (w *world) takeResource(seen bool) {
	for _, s := range w.sources {
		s.forgetList()
	}
	if seen {
		w.deletesAll()
	}
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

// cutWatches ends all watches of the resource. They are opened again only if it is served.
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
			problems = append(problems, fmt.Sprintf("the cache lacks %v@%v, and nobody has seen it deleted", k, m))
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
		problems = append(problems, fmt.Sprintf("it is missing: %v, since %v", missing, since))
	}
	return problems
}
