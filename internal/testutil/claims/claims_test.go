package claims

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// serve is a small server for the tests. It answers /echo with the body of the request, and /watch with
// two events.
func serve(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/api/v1/namespaces":
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"metadata": {"name": "mine"}}`)
	case "/echo/mine":
		w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
		_, _ = io.Copy(w, r.Body)
	case "/watch":
		_, _ = io.WriteString(w, `{"type": "BOOKMARK", "object": {"v": "1"}}{"type": "ADDED", "object": {"v": "2"}}`)
	default:
		http.NotFound(w, r)
	}
}

const echo = "POST /echo/{ns}\n" + `{"a": {"b.c": "x"}, "n": 12, "s": "9", "l": [1, 2], "z": null}` + "\n= 200\n"

func TestScripts(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(serve))
	defer s.Close()
	compacted := 0
	play := func(script string) error {
		return Server{URL: s.URL, Client: s.Client(), Compact: func() error { compacted++; return nil }}.Play(t.Context(), script)
	}
	for script, problem := range map[string]string{
		// Scripts that pass.
		"":                       "",
		echo + `  .a["b.c"] "x"`: "",
		echo + "  .a {\"b.c\": \"x\"}\n  .n 12\n  .l [1, 2]":                "",
		echo + "  .l.1 2\n  .l len 2\n  .s len 1\n  .z exists\n  .y absent": "",
		echo + "  .n >= 12\n  .n >= \"11\"":                                 "",
		echo + "  .n > \"9\"\n  .n > 11\n  .s has \"9\"":                    "",
		echo + "  .n => n\n\n# again\n" + echo + "  .n {n}":                 "",
		echo + "  .s hash=> h\n\nPOST /echo/{ns}\n{\"h\": \"{h}\", \"n\": \"{hNext}\"}\n= 200\n  .h \"0xaf63b44c8601a894\"\n  .n \"0xaf63b44c8601a895\"": "",
		"GET /nothing\nAccept: x\n= 404\n":                                          "",
		"WATCH w /watch\n= 200\nw BOOKMARK\n  .v \"1\"\nw ADDED\n  .v \"2\"\nw END": "",
		"WATCH w /watch\n= 200\nw ADDED\n  .v \"2\"\nCLOSE w":                       "",
		"COMPACT":                 "",
		"WATCH w /nothing\n= 404": "",
		// Scripts that fail.
		"GET /nothing\n= 200":                     "line 1: got 404, want 200",
		echo + "  .n 13":                          "line 4: .n: got 12, want 13",
		echo + "  .n \"12\"":                      "got 12, want \"12\"",
		echo + "  .l len 3":                       "it has 2 elements",
		echo + "  .l.2 exists":                    "it is missing",
		echo + "  .y => y":                        "it is missing",
		echo + "  .y hash=> y":                    "it is missing",
		echo + "  .z absent":                      "it is null",
		echo + "  .y null":                        "want null",
		echo + "  .s > \"12\"":                    "not larger",
		echo + "  .n > 12":                        "not larger",
		echo + "  .n >= 13":                       "smaller",
		echo + "  .s >= \"x\"":                    "smaller",
		echo + "  .s > \"x\"":                     "not larger",
		echo + "  .s has \"8\"":                   "which does not contain",
		echo + "  .s x":                           "is not JSON",
		echo + "  .s \"{unknown}\"":               "{unknown} has no value yet",
		"GET /{unknown}\n= 200":                   "{unknown} has no value yet",
		"GET /nothing\n= 404\n  .x 1":             "line 1: the answer is not JSON",
		"WATCH w /watch\n= 200\nw MODIFIED":       "line 3: got ADDED, want MODIFIED",
		"WATCH w /watch\n= 200\nw ADDED\nw ADDED": "line 4: got END, want ADDED",
		"w ADDED":                                 "there is no watch w",
		"GET /nothing":                            "no status code is expected",
		"  .x 1":                                  "line 1 is invalid",
		echo + "nonsense":                         "line 4 is invalid",
		echo + "  .n 13\n  .s \"8\"\n":            "line 5: .s",
	} {
		err := play(script)
		if problem == "" {
			require.NoError(t, err, script)
			continue
		}
		require.Error(t, err, script)
		assert.Contains(t, fmt.Sprint(err), problem, script)
	}
	assert.Equal(t, 1, compacted)
}

// definer is a server that begins to serve a kind some requests after it has got the definition. It
// stops serving it some requests after the definition is deleted.
type definer struct {
	mu      sync.Mutex
	defined bool
	lag     int // the number of requests that are answered as before
	bodies  []string
}

func (d *definer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lag--
	switch body, _ := io.ReadAll(r.Body); {
	case r.Method+" "+r.URL.Path == "POST "+definitions:
		d.defined, d.lag, d.bodies = true, 2, append(d.bodies, string(body))
		w.WriteHeader(http.StatusCreated)
	case r.Method+" "+r.URL.Path == "DELETE "+definitions+"/things.mine.example.com":
		d.defined, d.lag = false, 2
	case r.URL.Path == "/apis/mine.example.com/v1/things" && d.defined == (d.lag > 0):
		http.NotFound(w, r)
	case r.URL.Path == "/apis/mine.example.com/v1/things":
	default:
		serve(w, r)
	}
}

const things = "GET /apis/{ns}.example.com/v1/things\n"

func TestRegisteredKinds(t *testing.T) {
	d := &definer{}
	s := httptest.NewServer(d)
	defer s.Close()
	play := func(script string) error { return Server{URL: s.URL, Client: s.Client()}.Play(t.Context(), script) }
	require.NoError(t, play("REGISTER things Namespaced\n"+things+"= 200\nUNREGISTER things\n"+things+"= 404\nREGISTER things Cluster\n"+things+"= 200"))
	require.False(t, d.defined, "the end of a script removes its kinds")
	for i, scope := range []string{"Namespaced", "Cluster"} {
		require.Contains(t, d.bodies[i], `"scope": "`+scope+`", "names": {"plural": "things", "kind": "Thing"}`)
		require.True(t, json.Valid([]byte(d.bodies[i])))
	}
	require.ErrorContains(t, play("UNREGISTER things"), "line 1: things is not registered")
}

// A server may register kinds in its own way.
func TestKindsOfAServerWithoutDefinitions(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(serve))
	defer s.Close()
	var done []string
	note := func(what string) func(Kind) error {
		return func(k Kind) error {
			done = append(done, fmt.Sprintf("%s %+v", what, k))
			return nil
		}
	}
	own := Server{URL: s.URL, Client: s.Client(), Register: note("serve"), Unregister: note("drop")}
	require.NoError(t, own.Play(t.Context(), "REGISTER things Cluster\nUNREGISTER things\nREGISTER parts Namespaced"))
	thing, part := "{Group:mine.example.com Version:v1 Resource:things Kind:Thing Namespaced:false}", "{Group:mine.example.com Version:v1 Resource:parts Kind:Part Namespaced:true}"
	require.Equal(t, []string{"serve " + thing, "drop " + thing, "serve " + part, "drop " + part}, done)
	require.ErrorContains(t, Server{URL: s.URL, Client: s.Client()}.Play(t.Context(), "REGISTER things Cluster"), "got 404, want 201")
}

// If a server has no Compact, the script ends at COMPACT.
func TestServerThatDoesNotCompact(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(serve))
	defer s.Close()
	require.NoError(t, Server{URL: s.URL, Client: s.Client()}.Play(t.Context(), "COMPACT\n\nGET /nothing\n= 200"))
}
