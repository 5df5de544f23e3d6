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

// The deeds of those who define the resource, and of what stands before its server.
const (
	denyRequests operation = "deny" // requests are denied, in the way n of denials
	takeResource operation = "take" // the resource is taken away, with its objects
	giveResource operation = "give" // it is served, in the version n, and nothing is denied
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
}

// newResourcePlan draws a world whose resource comes and goes.
func newResourcePlan(seed uint64) plan {
	return drawPlan(seed, resourceMenu, func(s *setup, r *rand.Rand) {
		s.custom, s.undefined = true, r.IntN(3) == 0
		s.lease, s.blank, s.zones, s.initialFailures = false, false, 0, 0
	})
}

var customs = schema.GroupResource{Group: "example.com", Resource: "pods"}

var customVersions = []string{"v1", "v2"}

// denial is how requests are denied that would be served.
type denial int

const (
	admitted   denial = iota
	lacking           // the resource is answered with 404
	lost404           // all is answered with 404
	expired401        // all is answered with 401
	denials
)

// code returns the code that a request is answered with, 0 where it is served.
func (d denial) code(r *http.Request) int {
	switch {
	case d == lost404, d == lacking && strings.HasSuffix(r.URL.Path, "/"+customs.Resource):
		return http.StatusNotFound
	case d == expired401:
		return http.StatusUnauthorized
	}
	return 0
}

// resource is what a server serves, who may see it, and what says so: a definition, and
// discovery. It belongs to the driver.
type resource struct {
	server  *informertest.Server // of definitions and discovery; it holds no objects
	client  *dynamic.DynamicClient
	version string       // that is served, "" while it is taken away
	denial  atomic.Int32 // how requests are denied
	open    bool         // the sabotage's: nothing is denied
	kept    map[key]mark // what the cache held when nothing could prove a deletion, nil otherwise
}

var definitionKind = informertest.Kind{
	GVR: schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
	GVK: schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
}

// newResource sets up a server that serves the resource. Where its definition is
// undefined, to those who may not read it, discovery alone tells.
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

// serve defines the resource and serves it in a version.
func (c *resource) serve(version string) {
	c.version = version
	c.must(c.server.Register(informertest.Kind{
		GVR: customs.WithVersion(version), Namespaced: true,
		GVK: schema.GroupVersionKind{Group: customs.Group, Version: version, Kind: "Pod"},
	}))
	c.must(c.server.Create(context.Background(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": definitionKind.GVK.GroupVersion().String(), "kind": definitionKind.GVK.Kind,
		"metadata": map[string]any{"name": customs.String()},
		"spec":     map[string]any{"versions": []any{map[string]any{"name": version, "served": true}}},
		"status":   map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": "True"}}},
	}}))
}

// withdraw deletes the definition of the resource, which is served no more.
func (c *resource) withdraw() {
	c.must(c.server.Unregister(customs.WithVersion(c.version)))
	definition := &unstructured.Unstructured{}
	definition.SetGroupVersionKind(definitionKind.GVK)
	definition.SetName(customs.String())
	c.must(c.server.Delete(context.Background(), definition))
	c.version = ""
}

// deny denies requests from now on. Whoever watches is cut off.
func (c *resource) deny(d denial) {
	c.denial.Store(int32(d))
	c.server.CutWatches()
}

// admit ends the denial.
func (c *resource) admit() {
	c.denial.Store(int32(admitted))
	c.kept = nil
}

// unproved tells whether nobody can know that the resource was taken away: it was not, or
// nobody is let in who would ask.
func (c *resource) unproved() bool {
	d := denial(c.denial.Load())
	return d == lacking && c.version != "" || d > lacking
}

// denyingServer stands before the server, and denies what is denied.
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

// custom is a source whose reflector finds the client that it asks about the resource.
type custom struct {
	*source
	asked reflector.Source
}

var (
	_ reflector.Source   = custom{}
	_ reflector.Streamer = custom{}
)

// Unwrap returns the source of the resource by a real client.
func (c custom) Unwrap() reflector.Source { return c.asked }

// sourceOf returns what the informer sees of a source.
func (w *world) sourceOf(s *source) reflector.Source {
	if w.resource == nil {
		return s
	}
	s.asked = reflector.FromDynamic(w.resource.client, customs.WithVersion(customVersions[0]), "")
	return custom{s, s.asked}
}

// served returns why a request is not served: the resource is not there in the version that
// the reflector has chosen, or it is denied.
func (s *source) served(ctx context.Context) error {
	if s.asked == nil {
		return nil
	}
	_, err := s.asked.List(ctx, metav1.ListOptions{Limit: 1})
	return err
}

// changeResource does what is done to the resource. Whoever watches it is cut off.
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

// takeResource takes the resource away, with its objects, of whose deletion the watches may tell.
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

// cutWatches ends all watches of the resource, which are opened again only where it is served.
func (w *world) cutWatches() {
	for _, s := range w.sources {
		s.recordCause()
		for _, stream := range s.open() {
			stream.end()
		}
	}
	synctest.Wait()
}

// unproved: while nothing proves a deletion, nothing is deleted from the cache.
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

// presence: the status says whether the resource is missing.
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
