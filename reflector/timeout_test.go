package reflector

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
)

// clientTimeout is longer than the second within which the end of a watch is a failure.
const clientTimeout = 3 * time.Second

// piped is a listener for connections within a bubble.
type piped struct {
	conns  chan net.Conn
	closed context.Context
	close  context.CancelFunc
}

func (p *piped) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-p.closed.Done():
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *piped) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed.Done():
		return nil, net.ErrClosed
	}
}

func (p *piped) Close() error {
	p.close()
	return nil
}

func (p *piped) Addr() net.Addr { return &net.UnixAddr{Net: "unix", Name: "pipe"} }

// servePiped starts the server within a bubble.
func (p *pods) servePiped(t *testing.T, http2 bool) *rest.Config {
	t.Helper()
	p.count = map[string]int{}
	l := &piped{conns: make(chan net.Conn)}
	l.closed, l.close = context.WithCancel(t.Context())
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: p}, EnableHTTP2: http2}
	config := &rest.Config{Dial: l.dial}
	if http2 {
		config.Insecure = true
		server.StartTLS()
	} else {
		server.Start()
	}
	config.Host = server.URL
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	return config
}

// behindATimeout plays each client, with each protocol and each Wire, in a bubble of its own.
func behindATimeout(t *testing.T, server func() *pods, check func(*testing.T, string, *pods, *follower)) {
	t.Helper()
	sorts := maps.Clone(clients)
	sorts["like controller-runtime's"] = testClient{typeOfPod, func(t *testing.T, config *rest.Config) Source {
		config.Wrap(Wire)
		return likeControllerRuntime(t, config)
	}}
	for _, name := range slices.Sorted(maps.Keys(sorts)) {
		for _, http2 := range []bool{false, true} {
			for _, own := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, HTTP/2 %v, own writes %v", name, http2, own), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						p := server()
						config := p.servePiped(t, http2)
						config.Timeout = clientTimeout
						if own {
							config.Wrap(NewOwnWrites().Wire)
						}
						check(t, name, p, follow(t, neverStreaming(sorts[name].source(t, config)), sorts[name].object, Options{}))
					})
				})
			}
		}
	}
}

// A time-out of the client ends each watch, and no change is late for it.
func TestContract_B54_TheClientsTimeoutEndsAWatch(t *testing.T) {
	const watches = 20
	behindATimeout(t, func() *pods {
		p := onePod()
		p.watch = func(n int, w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, podEvent("MODIFIED", podText("a", fmt.Sprint(6+n), "")))
			stays(w, r)
		}
		return p
	}, func(t *testing.T, _ string, p *pods, f *follower) {
		time.Sleep(watches*clientTimeout - time.Second)
		f.until(func() bool { return true })
		require.Empty(t, eventsOf[Failed](f))
		require.Len(t, eventsOf[Listed](f), 1)
		require.Len(t, eventsOf[WatchStarted](f), watches)
		require.Equal(t, fmt.Sprint(5+watches), f.stored[keyOf("a")], p.requests())
	})
}

// A list that outlasts the client's time-out fails with the client's error.
func TestAListThatOutlastsTheClientsTimeout(t *testing.T) {
	behindATimeout(t, func() *pods {
		p := onePod()
		p.list = func(n int, w http.ResponseWriter, r *http.Request) {
			text := podList("5", podText("a", "3", ""))
			if n == 0 {
				_, _ = io.WriteString(w, text[:len(text)-10])
				stays(w, r)
				return
			}
			_, _ = io.WriteString(w, text)
		}
		return p
	}, func(t *testing.T, name string, _ *pods, f *follower) {
		f.until(f.watching(1))
		failed := eventsOf[Failed](f)
		require.Len(t, failed, 1)
		require.Equal(t, ErrorTimeout, failed[0].Class, failed[0].Err)
		if name != "generated" { // its answers are read above the client's time-out
			require.ErrorContains(t, failed[0].Err, "unexpected error when reading response body")
		}
	})
}
