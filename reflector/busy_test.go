package reflector

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// If a server is too busy for a stream, the reflector, and not its client, waits for the Retry-After
// and reports it. Streams stay enabled.
func TestABusyServerIsReportedAndObeyed(t *testing.T) {
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
func TestRetryAfterIsReportedAndObeyed(t *testing.T) {
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

// inPipes plays each client with a server, in a bubble of its own.
func inPipes(t *testing.T, test func(t *testing.T, source func(*pods) Source, client testClient)) {
	t.Helper()
	for _, name := range []string{"generated", "dynamic", "metadata"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := clients[name]
				test(t, func(p *pods) Source { return client.source(t, p.servePiped(t, false)) }, client)
			})
		})
	}
}

// A list of 60 pages arrives, although the server is too busy for each 20th request. Only these are sent again.
func TestAThrottledListArrives(t *testing.T) {
	const pages = 60
	inPipes(t, func(t *testing.T, source func(*pods) Source, client testClient) {
		server := &pods{list: func(n int, w http.ResponseWriter, r *http.Request) {
			if n%20 == 19 {
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			page, _ := strconv.Atoi(r.URL.Query().Get("continue"))
			next := ""
			if page+1 < pages {
				next = strconv.Itoa(page + 1)
			}
			_, _ = fmt.Fprintf(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5","continue":%q},"items":[%s]}`,
				next, podText(fmt.Sprint("p", page), "1", ""))
		}}
		f := follow(t, neverStreaming(source(server)), client.object, Options{})
		f.until(f.watching(1))
		f.mu.Lock()
		defer f.mu.Unlock()
		require.Len(t, f.stored, pages)
		require.Equal(t, pages+3, server.count["list"])
		require.Len(t, eventsOf[Failed](f), 3)
		for _, e := range eventsOf[BackedOff](f) {
			require.True(t, e.Page)
			require.GreaterOrEqual(t, e.Delay, time.Second)
		}
		require.Len(t, eventsOf[Asked](f), 2, "one list, and one watch")
	})
}

// The question for the newest version is sent once, too. Its error has the server's Retry-After.
func TestNewestOfABusyServer(t *testing.T) {
	inPipes(t, func(t *testing.T, source func(*pods) Source, _ testClient) {
		server := &pods{list: func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "120")
			w.WriteHeader(http.StatusTooManyRequests)
		}}
		_, err := Newest(t.Context(), source(server))
		require.True(t, apierrors.IsTooManyRequests(err), err)
		require.GreaterOrEqual(t, RepeatAfter(1, err), 2*time.Minute)
		require.Equal(t, 1, server.count["list"])
	})
}

// The largest Retry-After is ten minutes, however large the number is.
func TestRetryAfterThousandsOfYears(t *testing.T) {
	inPipes(t, func(t *testing.T, source func(*pods) Source, client testClient) {
		server := &pods{list: func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "99999999999")
			w.WriteHeader(http.StatusServiceUnavailable)
		}}
		f := follow(t, neverStreaming(source(server)), client.object, Options{})
		f.until(func() bool { return len(eventsOf[BackedOff](f)) > 0 })
		f.mu.Lock()
		defer f.mu.Unlock()
		require.Equal(t, maxRetryAfter, eventsOf[BackedOff](f)[0].Delay)
	})
}

// A server, or a load balancer before it, that closes connections before it answers is reported as that, and not as
// silent. Streams stay enabled, and a watch is opened again without a list.
func TestConnectionsThatAreClosedBeforeAnAnswer(t *testing.T) {
	const broken = 12 // more than a client would repeat by itself
	closes := func(n int, w http.ResponseWriter, r *http.Request) {
		switch {
		case n < broken:
			panic(http.ErrAbortHandler)
		case r.URL.Query().Get("sendInitialEvents") != "":
			_, _ = io.WriteString(w, podEvent("BOOKMARK", endText("5")))
			_ = http.NewResponseController(w).Flush()
			time.Sleep(2 * time.Second) // then a watch follows
		default:
			stays(w, r)
		}
	}
	inPipes(t, func(t *testing.T, source func(*pods) Source, client testClient) {
		server := &pods{stream: closes, watch: closes}
		f := follow(t, source(server), client.object, Options{Backoff: func(int) time.Duration { return 100 * time.Millisecond }})
		f.until(f.watching(2))
		f.mu.Lock()
		defer f.mu.Unlock()
		failures := eventsOf[Failed](f)
		require.GreaterOrEqual(t, len(failures), 2*broken-1, "net/http repeats a request on a connection that it has used before")
		for _, e := range failures {
			require.Equal(t, ErrorConnection, e.Class, e.Err)
		}
		require.Empty(t, eventsOf[StreamRefused](f))
		require.Equal(t, map[string]int{"stream": broken + 1, "watch": broken + 1}, server.count)
	})
}
