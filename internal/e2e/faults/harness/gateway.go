package harness

import (
	"bytes"
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

// Gateway is an HTTP proxy on 127.0.0.1 in front of a kube-apiserver. It can answer requests
// incorrectly, or change the server's answers.
type Gateway struct {
	server  *httptest.Server
	backend http.RoundTripper
	fault   atomic.Pointer[Fault]
}

// A Fault answers a request instead of the kube-apiserver. next writes the server's answer.
type Fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

// NewGateway returns a gateway to the server of config, with config's credentials.
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
		FlushInterval: -1, // pass on the events of a watch at once
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
		ErrorLog:      log.New(io.Discard, "", 0), // scenarios break connections on purpose
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

// Config returns the configuration for a client of the gateway. The gateway sends requests as the user
// of its own config.
func (g *Gateway) Config() *rest.Config {
	return &rest.Config{Host: g.server.URL, QPS: -1}
}

// Break makes the gateway answer with a fault, or correctly again if f is nil. It closes open
// connections.
func (g *Gateway) Break(f Fault) {
	if f == nil {
		g.fault.Store(nil)
	} else {
		g.fault.Store(&f)
	}
	g.server.CloseClientConnections()
}

// Close stops the gateway.
func (g *Gateway) Close() {
	g.server.CloseClientConnections()
	g.server.Close()
	utilnet.CloseIdleConnectionsFor(g.backend)
}

// Answer returns a fault that answers every request in the same way.
func Answer(contentType, body string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, body) // the client may have disconnected
	}
}

// AnswerWatches returns a fault that answers every watch in the same way, and passes on other requests.
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

// TruncateWatches returns a fault that cuts off each watch after a number of bytes.
func TruncateWatches(bytes int) Fault {
	return onWatches(func(w http.ResponseWriter) http.ResponseWriter { return &spoiled{ResponseWriter: w, left: bytes} })
}

// GarbleWatches returns a fault that makes each watch send garbage after a number of bytes.
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

// spoiled is an answer whose first bytes are the server's.
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

// Flush flushes the wrapped answer.
func (s *spoiled) Flush() { _ = http.NewResponseController(s.ResponseWriter).Flush() } // best effort

// Unwrap returns the wrapped answer, for http.ResponseController.
func (s *spoiled) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// DelayWatches returns a fault that delays everything that a watch sends, including headers.
func DelayWatches(by time.Duration) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !r.URL.Query().Has("watch") {
			next.ServeHTTP(w, r)
			return
		}
		l := &late{ResponseWriter: w, by: by, sent: make(chan lateChunk, 1<<16)}
		var sending sync.WaitGroup
		sending.Go(func() { l.send(r.Context()) })
		defer sending.Wait()
		defer close(l.sent)
		next.ServeHTTP(l, r)
	}
}

// late is an answer whose body is sent a fixed time after it is written.
type late struct {
	http.ResponseWriter
	by   time.Duration
	sent chan lateChunk
}

type lateChunk struct {
	at   time.Time
	data []byte
}

// WriteHeader sends the headers before the first event, because a quiet watch has no events.
func (l *late) WriteHeader(code int) {
	l.ResponseWriter.WriteHeader(code)
	_, _ = l.Write(nil) // never fails
}

func (l *late) Write(p []byte) (int, error) {
	l.sent <- lateChunk{time.Now().Add(l.by), bytes.Clone(p)}
	return len(p), nil
}

// Flush does nothing, because send flushes what it sends.
func (*late) Flush() {}

func (l *late) send(ctx context.Context) {
	for chunk := range l.sent {
		timer := time.NewTimer(time.Until(chunk.at))
		select {
		case <-timer.C:
			_, _ = l.ResponseWriter.Write(chunk.data)                // the client may have disconnected
			_ = http.NewResponseController(l.ResponseWriter).Flush() // best effort
		case <-ctx.Done():
			timer.Stop()
		}
	}
}
