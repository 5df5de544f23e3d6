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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// The operations that define the resource, and that deny requests.
const (
	denyRequests operation = "deny" // requests are denied, by denial n
	takeResource operation = "take" // the resource and its objects are removed
	giveResource operation = "give" // the resource is served in version n, and requests are admitted
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
	{stop, 2, 1},
	{start, 4, 1},
	{cutWatches, 4, 1},
	{compact, 4, 1},
	{failRequests, 3, len(failures)},
	{delayRequests, 2, 8},
	{endWatchEarly, 2, 4},
	{pollStatus, 4, 30},
	{trickleWrites, 4, 60},
	{denyRequests, 8, int(denials) - 1},
	{takeResource, 6, 1},
	{giveResource, 8, len(customVersions)},
	{flapDefinition, 2, 20},
	{vanishingWatch, 3, 20},
}

// newResourcePlan draws a world whose resource comes and goes.
func newResourcePlan(seed uint64) plan {
	return drawPlan(seed, resourceMenu, func(s *setup, r *rand.Rand) {
		s.custom, s.undefined = true, r.IntN(3) == 0
		s.lease, s.blank, s.versionless, s.zones, s.initialFailures = false, false, false, 0, 0
	})
}

var customs = schema.GroupResource{Group: "example.com", Resource: "pods"}

var customVersions = []string{"v1", "v2"}

// denial says how the server denies requests.
type denial int

const (
	admitted   denial = iota
	lacking           // requests for the resource get 404
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

// resource is a custom resource: its definition, and a server that serves it or denies access. Only
// the driver uses it.
type resource struct {
	server  *informertest.Server // has definitions and discovery, but no objects
	client  *dynamic.DynamicClient
	version string       // the served version, "" while the resource is removed
	denial  atomic.Int32 // a denial
	open    bool         // set by a mutant: nothing is denied
	kept    map[key]mark // the cache's content since no deletion can be proved, nil otherwise
}

var definitionKind = informertest.Kind{
	GVR: schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
	GVK: schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
}

// newResource starts a server with the resource. If undefined is set, clients may not read the
// definition, and only discovery shows the resource.
func newResource(undefined bool) *resource {
	c := &resource{server: informertest.New(informertest.Options{})}
	c.must(c.server.Register(definitionKind))
	c.must(c.server.StartInMemory())
	if undefined {
		c.server.Forbid(informertest.Request{Resource: definitionKind.GVR.Resource})
	}
	config := c.server.ClientConfig()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return denyingServer{c, next} })
	client, err := dynamic.NewForConfig(config)
	c.must(err)
	c.client = client
	c.serve(customVersions[0])
	return c
}

func (c *resource) must(err error) {
	if err != nil {
		panic(fmt.Sprintf("the world is wrong: %v", err))
	}
}

// serve creates the definition of the resource, in a version.
func (c *resource) serve(version string) {
	c.version = version
	c.must(c.server.Register(informertest.Kind{
		GVR: customs.WithVersion(version), Namespaced: true,
		GVK: schema.GroupVersionKind{Group: customs.Group, Version: version, Kind: "Pod"},
	}))
	c.must(c.server.Create(context.Background(), definitionOf(version, "True")))
}

// definitionOf returns the definition of the resource in a version.
func definitionOf(version, established string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": definitionKind.GVK.GroupVersion().String(), "kind": definitionKind.GVK.Kind,
		"metadata": map[string]any{"name": customs.String()},
		"spec":     map[string]any{"versions": []any{map[string]any{"name": version, "served": true}}},
		"status":   map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": established}}},
	}}
}

// withdraw deletes the definition of the resource, which is then no longer served.
func (c *resource) withdraw() {
	c.must(c.server.Unregister(customs.WithVersion(c.version)))
	definition := &unstructured.Unstructured{}
	definition.SetGroupVersionKind(definitionKind.GVK)
	definition.SetName(customs.String())
	c.must(c.server.Delete(context.Background(), definition))
	c.version = ""
}

// deny denies requests from now on, and ends the watches.
func (c *resource) deny(d denial) {
	c.denial.Store(int32(d))
	c.server.CutWatches()
}

// admit ends the denial.
func (c *resource) admit() {
	c.denial.Store(int32(admitted))
	c.kept = nil
}

// unproved reports whether a client cannot know that the resource was removed: it was not removed,
// or the client's requests are denied.
func (c *resource) unproved() bool {
	d := denial(c.denial.Load())
	return d == lacking && c.version != "" || d > lacking
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
	s.asked = reflector.FromDynamic(w.resource.client, customs.WithVersion(customVersions[0]), "")
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
	case s.op == takeResource && c.version != "" && closed(w.informer.Synced()):
		w.takeResource(r.IntN(2) == 0)
	case s.op == giveResource:
		if c.version == "" && !w.mutant.keepsDefinition {
			c.serve(customVersions[s.n-1])
		}
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
	if w.mutant.keepsDefinition {
		w.resource.server.Intercept(func(context.Context, informertest.Request) error { return apierrors.NewNotFound(customs, "") })
		w.resource.version = ""
	} else {
		w.resource.withdraw()
	}
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
	if missing := w.resource.version == ""; missing == since.IsZero() {
		problems = append(problems, fmt.Sprintf("it is missing: %v, since %v", missing, since))
	}
	return problems
}
