package reflector

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// oddStreams are servers that answer streams in wrong or unusual ways. All hold the pod a, at
// version 3.
var oddStreams = map[string]struct {
	stream func(n int, w http.ResponseWriter, r *http.Request)
	stored map[string]string // the versions at the end, by name
	lists  int
}{
	"answers and closes": {func(int, http.ResponseWriter, *http.Request) {}, map[string]string{"a": "3"}, 1},
	"closes behind an object": {func(_ int, w http.ResponseWriter, _ *http.Request) {
		send(w, podEvent("ADDED", podText("gone", "2", "")))
	}, map[string]string{"a": "3"}, 1},
	"breaks off within an object": {func(_ int, w http.ResponseWriter, _ *http.Request) {
		send(w, podEvent("ADDED", podText("gone", "2", "")), `{"type":"ADD`)
	}, map[string]string{"a": "3"}, 1},
	"is not there for long": {func(_ int, w http.ResponseWriter, _ *http.Request) {
		send(w, podEvent("ADDED", podText("gone", "2", "")))
		panic(http.ErrAbortHandler)
	}, map[string]string{"a": "3"}, 1},
	"never ends the initial state": {func(_ int, w http.ResponseWriter, r *http.Request) {
		send(w, podEvent("ADDED", podText("gone", "2", "")))
		stays(w, r)
	}, map[string]string{"a": "3"}, 1},
	"ends it twice": {func(_ int, w http.ResponseWriter, r *http.Request) {
		end := podEvent("BOOKMARK", endText("5"))
		send(w, podEvent("ADDED", podText("a", "3", "")), end, end, podEvent("ADDED", podText("b", "6", "")), podEvent("BOOKMARK", endText("7")))
		stays(w, r)
	}, map[string]string{"a": "3", "b": "6"}, 0},
	"sends what is older than the bookmark": {func(_ int, w http.ResponseWriter, r *http.Request) {
		send(w, podEvent("ADDED", podText("a", "3", "")), podEvent("BOOKMARK", endText("5")),
			podEvent("ADDED", podText("b", "4", "")), podEvent("DELETED", podText("never", "2", "")), podEvent("MODIFIED", podText("c", "7", "")))
		stays(w, r)
	}, map[string]string{"a": "3", "b": "4", "c": "7"}, 0},
	"sends what is newer than the bookmark": {func(_ int, w http.ResponseWriter, r *http.Request) {
		send(w, podEvent("ADDED", podText("a", "9", "")), podEvent("BOOKMARK", endText("5")), podEvent("MODIFIED", podText("a", "9", "")))
		stays(w, r)
	}, map[string]string{"a": "9"}, 0},
	"sends an object twice, and one that goes": {func(_ int, w http.ResponseWriter, r *http.Request) {
		send(w, podEvent("ADDED", podText("a", "2", "")), podEvent("ADDED", podText("b", "2", "")), podEvent("ADDED", podText("a", "3", "")),
			podEvent("DELETED", podText("b", "4", "")), podEvent("BOOKMARK", endText("5")))
		stays(w, r)
	}, map[string]string{"a": "3"}, 0},
	"says that the end is not one": {func(_ int, w http.ResponseWriter, r *http.Request) {
		send(w, podEvent("ADDED", podText("gone", "2", "")),
			`{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"5","annotations":{"k8s.io/initial-events-end":"false"}}}}`)
		stays(w, r)
	}, map[string]string{"a": "3"}, 1},
	"sends an error as an event": {func(_ int, w http.ResponseWriter, r *http.Request) {
		send(w, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","code":500,"reason":"InternalError"}}`)
		stays(w, r)
	}, map[string]string{"a": "3"}, 1},
}

// send writes the events of a stream and flushes them.
func send(w http.ResponseWriter, events ...string) {
	for _, e := range events {
		_, _ = io.WriteString(w, e+"\n")
	}
	_ = http.NewResponseController(w).Flush()
}

// However a server answers a stream, the sink gets the server's objects in the end.
func TestServersWithOddStreams(t *testing.T) {
	for name, row := range oddStreams {
		t.Run(name, func(t *testing.T) { withOddServer(t, row.stream, row.stored, row.lists) })
	}
}

// If a server refuses a stream in any way, the reflector lists: also if the server rejects a version
// that was not requested.
func TestServersThatRefuseStreams(t *testing.T) {
	for _, code := range []int{400, 401, 403, 404, 405, 406, 409, 410, 413, 415, 422, 431, 500, 501, 502, 503, 504} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			withOddServer(t, func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }, map[string]string{"a": "3"}, 1)
		})
	}
}

// withOddServer runs a reflector with each client against a server, until everything is stored.
func withOddServer(t *testing.T, stream func(int, http.ResponseWriter, *http.Request), stored map[string]string, lists int) {
	want := map[indexer.Key]string{}
	for pod, version := range stored {
		want[indexer.Key{Namespace: "ns", Name: pod}] = version
	}
	for name, client := range clients {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &pods{stream: stream, list: func(_ int, w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, podList("5", podText("a", "3", "")))
			}}
			config := server.serve(t)
			f := follow(t, client.source(t, config), client.object, Options{StreamPatience: 300 * time.Millisecond})
			f.until(func() bool { return f.watching(1)() && fmt.Sprint(f.stored) == fmt.Sprint(want) })
			server.mu.Lock()
			defer server.mu.Unlock()
			require.Equal(t, lists, server.count["list"], server.asked)
			require.LessOrEqual(t, server.count["stream"], 1, server.asked)
		})
	}
}

// A watch event of another kind is left out, even if its object does not fit the Go type, or has the name of a
// stored one. The watch goes on. A client that does not know the kind of its objects leaves out
// a Status at least.
func TestEventsOfAnotherKind(t *testing.T) {
	status := `{"type":"ADDED","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure"}}`
	other := `{"type":"MODIFIED","object":{"kind":"Other","apiVersion":"v1","metadata":{"namespace":"ns","name":"a","uid":"u-a","resourceVersion":"8","labels":"none"},"spec":"none"}}`
	for name, events := range map[string][]string{"generated": {status, other}, "metadata": {status}, "dynamic": {status}} {
		for _, strict := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", strict: ", strict), func(t *testing.T) {
				server := &pods{stream: func(_ int, w http.ResponseWriter, r *http.Request) {
					pod := podEvent("ADDED", podText("b", "9", ""))
					if name == "metadata" {
						pod = strings.Replace(pod, `"Pod","apiVersion":"v1"`, `"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1"`, 1)
					}
					send(w, podEvent("BOOKMARK", endText("5")))
					send(w, append(events, pod)...)
					stays(w, r)
				}}
				config := server.serve(t)
				f := follow(t, clients[name].source(t, config), clients[name].object, Options{Decoding: Decoding{FailOnUndecodable: strict}})
				f.until(func() bool { return len(f.stored) > 0 || len(eventsOf[WatchEnded](f)) > 0 })
				f.mu.Lock()
				defer f.mu.Unlock()
				require.Equal(t, map[indexer.Key]string{{Namespace: "ns", Name: "b"}: "9"}, f.stored, f.events)
				left := eventsOf[Skipped](f)
				require.Len(t, left, len(events))
				for i, e := range left {
					require.ErrorIs(t, e.Err, ErrUnexpected)
					if events[i] == other {
						require.ErrorContains(t, e.Err, "event of ns/a")
					}
				}
			})
		}
	}
}
