package informertest

import (
	"context"
	"net"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
)

// Start listens on a free port of 127.0.0.1, for the clients that are made
// from [Server.ClientConfig]. A server that listens already goes on.
func (s *Server) Start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	if s.listener != nil {
		return nil
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	s.listener, s.http = listener, server
	s.running.Go(func() { _ = server.Serve(listener) }) // it returns when the server is closed
	return nil
}

// ClientConfig returns what a clientset needs to talk to the server over HTTP
// and JSON, without a limit on the rate. With another ContentConfig the client
// may speak protobuf as well. It is of use once the server was
// started; its Host is then the server's URL.
func (s *Server) ClientConfig() *rest.Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &rest.Config{
		Host:          "http://127.0.0.1",
		ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON, AcceptContentTypes: runtime.ContentTypeJSON},
		QPS:           -1,
		Dial:          s.dial,
	}
	if s.listener != nil {
		c.Host = "http://" + s.listener.Addr().String()
	}
	return c
}

// dial connects a client with the server, wherever it listens.
func (s *Server) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	s.mu.Lock()
	listener := s.listener
	s.mu.Unlock()
	if listener == nil {
		return nil, ErrNotStarted
	}
	var d net.Dialer
	return d.DialContext(ctx, network, listener.Addr().String())
}

// ServeHTTP serves the API on any listener.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.enter() {
		writeError(w, r, ErrClosed)
		return
	}
	defer s.running.Done()
	if err := s.serve(w, r); err != nil {
		writeError(w, r, err)
	}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) error {
	if healthy(r.URL.Path) {
		_, err := w.Write([]byte("ok"))
		return err
	}
	if found := s.discover(r.URL.Path); found != nil {
		return serveDiscovery(found, w, r)
	}
	t, ok := parseTarget(r.URL.Path)
	if !ok {
		return errNotServed()
	}
	x, err := s.exchange(t, w, r)
	if err != nil {
		return err
	}
	return x.serve()
}
