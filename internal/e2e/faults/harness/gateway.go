package harness

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

// Gateway is an HTTP proxy on 127.0.0.1 before a kube-apiserver, which
// understands what passes and can answer nonsense instead.
type Gateway struct {
	server  *httptest.Server
	backend http.RoundTripper
	fault   atomic.Pointer[Fault]
}

// A Fault answers instead of the kube-apiserver; next has its own answer.
type Fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

// NewGateway returns a gateway to the server that config leads to.
func NewGateway(config *rest.Config) (*Gateway, error) {
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	backend, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	next := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     backend,
		FlushInterval: -1, // a watch is read event by event
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	g := &Gateway{backend: backend}
	g.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fault := g.fault.Load(); fault != nil {
			(*fault)(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	}))
	return g, nil
}

// Config returns how to reach the gateway. It speaks for the user that it was made with.
func (g *Gateway) Config() *rest.Config {
	return &rest.Config{Host: g.server.URL, QPS: -1}
}

// Break makes the gateway answer in another way, nil for in the right one. The
// connections that are open end.
func (g *Gateway) Break(f Fault) {
	if f == nil {
		g.fault.Store(nil)
	} else {
		g.fault.Store(&f)
	}
	g.server.CloseClientConnections()
}

// Close ends the gateway.
func (g *Gateway) Close() {
	g.server.CloseClientConnections()
	g.server.Close()
	utilnet.CloseIdleConnectionsFor(g.backend)
}

// Answer is a fault that answers everything in the same way.
func Answer(contentType, body string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, body) // the client may be gone
	}
}

// AnswerWatches is a fault that answers each watch in the same way, and everything else as it is.
func AnswerWatches(contentType, body string) Fault {
	answer := Answer(contentType, body)
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.URL.Query().Has("watch") {
			answer(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	}
}

// TruncateWatches is a fault that breaks each watch after some bytes of it.
func TruncateWatches(bytes int) Fault {
	return onWatches(func(w http.ResponseWriter) http.ResponseWriter { return &spoiled{ResponseWriter: w, left: bytes} })
}

// GarbleWatches is a fault that makes each watch send nonsense from some byte on.
func GarbleWatches(bytes int) Fault {
	return onWatches(func(w http.ResponseWriter) http.ResponseWriter {
		return &spoiled{ResponseWriter: w, left: bytes, garble: true}
	})
}

func onWatches(spoil func(http.ResponseWriter) http.ResponseWriter) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.URL.Query().Has("watch") {
			w = spoil(w)
		}
		next.ServeHTTP(w, r)
	}
}

// spoiled is an answer of which only the first bytes are right.
type spoiled struct {
	http.ResponseWriter
	left   int
	garble bool
}

func (s *spoiled) Write(p []byte) (int, error) {
	right := min(s.left, len(p))
	s.left -= right
	if right < len(p) && s.garble {
		p = append(p[:right:right], make([]byte, len(p)-right)...)
		return s.ResponseWriter.Write(p)
	}
	if _, err := s.ResponseWriter.Write(p[:right]); err != nil {
		return 0, err
	}
	if right < len(p) {
		s.Flush()
		panic(http.ErrAbortHandler)
	}
	return len(p), nil
}

// Flush sends on what was written.
func (s *spoiled) Flush() { _ = http.NewResponseController(s.ResponseWriter).Flush() } // or later

// Unwrap is for http.ResponseController.
func (s *spoiled) Unwrap() http.ResponseWriter { return s.ResponseWriter }
