package reflector

import (
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// If a server is too busy for a stream, the reflector, and not its client, waits for the Retry-After
// and reports it. Streams stay enabled.
func TestABusyServerIsToldAndObeyed(t *testing.T) {
	for name, client := range clients {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &pods{stream: func(n int, w http.ResponseWriter, r *http.Request) {
				if n == 0 {
					w.Header().Set("Retry-After", "2")
					w.WriteHeader(http.StatusTooManyRequests)
					return
				}
				_, _ = io.WriteString(w, podEvent("BOOKMARK", endText("5")))
				stays(w, r)
			}}
			config := server.serve(t)
			f := follow(t, client.source(t, config), client.object, Options{})
			f.until(f.watching(1))
			f.mu.Lock()
			defer f.mu.Unlock()
			failures := eventsOf[Failed](f)
			require.Len(t, failures, 1)
			require.True(t, apierrors.IsTooManyRequests(failures[0].Err), failures[0].Err)
			backedOff := eventsOf[BackedOff](f)
			require.Len(t, backedOff, 1)
			require.InDelta(t, 2*time.Second, backedOff[0].Delay, float64(firstDelay))
			require.GreaterOrEqual(t, backedOff[0].Delay, 2*time.Second)
			require.Equal(t, OpStream, eventsOf[Listed](f)[0].Operation)
			require.Equal(t, `stream at "", stream at ""`, server.requests())
			require.GreaterOrEqual(t, server.at[1].Sub(server.at[0]), 2*time.Second)
		})
	}
}

// If a busy or a failing server says when to come back, the reflector, and not its client, waits for
// it, and reports it: for a stream, a list and a watch.
func TestAServerThatSaysWhenToComeBackIsToldAndObeyed(t *testing.T) {
	for name, client := range clients {
		for _, code := range []int{http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable} {
			for _, kind := range []string{"stream", "list", "watch"} {
				t.Run(fmt.Sprint(name, ", ", kind, " ", code), func(t *testing.T) {
					t.Parallel()
					busy := func(n int, w http.ResponseWriter, r *http.Request) {
						switch {
						case n == 0:
							w.Header().Set("Retry-After", "2")
							w.WriteHeader(code)
						case kind == "list":
							_, _ = io.WriteString(w, podList("5"))
						case kind == "stream":
							_, _ = io.WriteString(w, podEvent("BOOKMARK", endText("5")))
							stays(w, r)
						default:
							stays(w, r)
						}
					}
					server := &pods{stream: func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) }}
					*map[string]*func(int, http.ResponseWriter, *http.Request){"stream": &server.stream, "list": &server.list, "watch": &server.watch}[kind] = busy
					f := follow(t, client.source(t, server.serve(t)), client.object, Options{})
					f.until(f.watching(1))
					f.mu.Lock()
					defer f.mu.Unlock()
					failures := eventsOf[Failed](f)
					require.Len(t, failures, 1)
					require.Equal(t, classOfStatus(code), ClassOf(failures[0].Err))
					backedOff := eventsOf[BackedOff](f)
					require.Len(t, backedOff, 1)
					require.GreaterOrEqual(t, backedOff[0].Delay, 2*time.Second)
					require.Equal(t, 2, server.count[kind])
				})
			}
		}
	}
}
