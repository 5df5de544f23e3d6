package controllerruntime

import (
	"net/http"
	"strings"
	"sync"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// gate is a proxy in front of the API server that can answer requests for pods itself.
type gate struct {
	server *informertest.Server

	mu     sync.Mutex       // guards the rest
	guard  http.HandlerFunc // answers requests for pods; if nil, the server does
	goes   func()           // releases the requests that the guard holds; may be nil
	passes []*http.Request  // every request so far
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	g.passes = append(g.passes, r)
	guard := g.guard
	g.mu.Unlock()

	if guard == nil || !strings.HasSuffix(r.URL.Path, "/pods") {
		guard = g.server.ServeHTTP
	}
	guard(w, r)
}

// shut makes requests for pods wait until the gate opens or they are canceled.
func (g *gate) shut() {
	opened := make(chan struct{})
	g.post(func() { close(opened) }, func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-opened:
			g.server.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	})
}

// refuse answers requests for pods with 403 Forbidden.
func (g *gate) refuse() {
	g.post(nil, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"pods are none of your business","reason":"Forbidden","code":403}`))
	})
}

// open lets all requests pass again.
func (g *gate) open() { g.post(nil, nil) }

// post replaces the guard. When the next guard replaces this one, post calls goes.
func (g *gate) post(goes func(), guard http.HandlerFunc) {
	g.mu.Lock()
	defer g.mu.Unlock()

	if g.goes != nil {
		g.goes()
	}
	g.goes, g.guard = goes, guard
}

// requests returns the requests for pods.
func (g *gate) requests() []*http.Request {
	g.mu.Lock()
	defer g.mu.Unlock()

	var found []*http.Request
	for _, r := range g.passes {
		if strings.HasSuffix(r.URL.Path, "/pods") {
			found = append(found, r)
		}
	}
	return found
}
