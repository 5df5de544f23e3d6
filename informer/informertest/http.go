package informertest

import (
	"context"
	"net"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
)

// Start listens on a free port of 127.0.0.1, for clients made from [Server.ClientConfig]. If the server
// already listens, Start does nothing.
func (s *Server) Start() error {
	return s.listen(func() (endpoint, error) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return endpoint{}, err
		}
		address := listener.Addr().String()
		dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, network, address)
		}
		return endpoint{listener, "http://" + address, dial}, nil
	})
}

// StartInMemory is Start with pipes within the process instead of sockets. It serves only clients made from
// [Server.ClientConfig]. If they are made inside a testing/synctest bubble, they also work there.
func (s *Server) StartInMemory() error {
	return s.listen(func() (endpoint, error) {
		p := newPipes()
		return endpoint{p, "http://informertest", p.dial}, nil
	})
}

// endpoint is the server's listener, its URL, and a function that connects clients to it.
type endpoint struct {
	net.Listener
	url  string
	dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// listen opens an endpoint and serves HTTP on it, unless the server already listens.
func (s *Server) listen(open func() (endpoint, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	if s.http != nil {
		return nil
	}
	e, err := open()
	if err != nil {
		return err
	}
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	s.endpoint, s.http = e, server
	s.running.Go(func() { _ = server.Serve(e) }) // Serve returns when the server is closed
	return nil
}

// ClientConfig returns the configuration of a client of the server, over HTTP and JSON, without a rate limit.
// A client that changes the ContentConfig may use protobuf. Start the server first: before that, the Host
// cannot be used.
func (s *Server) ClientConfig() *rest.Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &rest.Config{
		Host:          "http://127.0.0.1",
		ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON, AcceptContentTypes: runtime.ContentTypeJSON},
		QPS:           -1,
		Dial:          s.dial,
	}
	if s.http != nil {
		c.Host = s.endpoint.url
	}
	return c
}

// dial connects a client to the server's endpoint.
func (s *Server) dial(ctx context.Context, network, address string) (net.Conn, error) {
	s.mu.Lock()
	dial := s.endpoint.dial
	s.mu.Unlock()
	if dial == nil {
		return nil, errNotStarted
	}
	return dial(ctx, network, address)
}

// ServeHTTP serves the API on a listener of the caller's choice.
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
