package reflector

import (
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// guarded is a body that a user's transport returns. The reflector must close it once. It must not close
// the body of a list during a read.
type guarded struct {
	io.ReadCloser
	list    bool
	reading atomic.Bool
	closed  atomic.Int32
	early   atomic.Bool
	arrived func() // is called when a part has been read
}

func (g *guarded) Read(p []byte) (int, error) {
	g.reading.Store(true)
	defer g.reading.Store(false)
	n, err := g.ReadCloser.Read(p)
	if g.list && n > 0 {
		g.arrived()
	}
	return n, err
}

func (g *guarded) Close() error {
	g.closed.Add(1)
	if g.list && g.reading.Load() {
		g.early.Store(true)
	}
	return g.ReadCloser.Close()
}

// Each body is closed once, and that of a list not while it is read, also if the list is cancelled
// within its items.
func TestBodiesAreClosedOnce(t *testing.T) {
	for _, name := range []string{"generated", "dynamic"} {
		for _, cancelled := range []bool{false, true} {
			var mu sync.Mutex
			var bodies []*guarded
			server, arrived := onePod(), make(chan struct{})
			if cancelled {
				server.list = func(_ int, w http.ResponseWriter, r *http.Request) {
					text := podList("5", podText("a", "3", ""), podText("b", "3", ""))
					_, _ = io.WriteString(w, text[:len(text)-10])
					stays(w, r)
				}
			}
			config := server.serve(t)
			config.Wrap(transport(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
				answer, err := next.RoundTrip(r)
				if err == nil && answer.StatusCode == http.StatusOK {
					body := &guarded{ReadCloser: answer.Body, list: r.URL.Query().Get("watch") == "", arrived: sync.OnceFunc(func() { close(arrived) })}
					answer.Body = body
					mu.Lock()
					bodies = append(bodies, body)
					mu.Unlock()
				}
				return answer, err
			}).around)
			ctx, cancel := context.WithCancel(t.Context())
			f := &follower{t: t, looked: make(chan struct{}, 1), stored: map[indexer.Key]string{}}
			ended := make(chan error)
			source := neverStreaming(clients[name].source(t, config))
			go func() { ended <- New(source, f, Options{Type: clients[name].object}).Run(ctx) }()
			if cancelled {
				<-arrived
			} else {
				f.until(func() bool { return f.stored[keyOf("a")] == "6" })
			}
			cancel()
			require.NoError(t, <-ended)
			mu.Lock()
			require.NotEmpty(t, bodies)
			for _, b := range bodies {
				require.Eventually(t, func() bool { return b.closed.Load() > 0 }, 10*time.Second, time.Millisecond)
				require.EqualValues(t, 1, b.closed.Load(), name)
				require.False(t, b.early.Load(), name)
			}
			mu.Unlock()
		}
	}
}
