package served

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

var widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

// server is the transport to an API server that has definitions and discovery, and nothing else.
type server struct {
	mu       sync.Mutex
	start    time.Time
	requests []string // with the time of each
	at       int      // the version of the newest write
	crd      map[string]any
	watches  map[*io.PipeWriter]bool // true for watches of metadata only
	served   map[string][]string     // the versions of widgets in discovery, by group
	answers  map[string]int          // the status that requests are answered with whose path begins so
	down     bool                    // connections are refused
}

func newServer() *server {
	return &server{start: time.Now(), at: 10, watches: map[*io.PipeWriter]bool{}, served: map[string][]string{}, answers: map[string]int{}}
}

func (s *server) config() (*rest.Config, *http.Client) {
	return &rest.Config{Host: "http://server/prefix"}, &http.Client{Transport: s}
}

func (s *server) dynamic(t *testing.T) Client {
	t.Helper()
	config, client := s.config()
	c, err := dynamic.NewForConfigAndClient(config, client)
	require.NoError(t, err)
	return FromDynamic(c)
}

// set changes the server under its lock.
func (s *server) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

const crdsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path, ok := strings.CutPrefix(r.URL.Path, "/prefix")
	if !ok {
		return nil, fmt.Errorf("a request without the prefix: %s", r.URL)
	}
	s.requests = append(s.requests, fmt.Sprintf("%v %s?%s", time.Since(s.start).Round(10*time.Millisecond), path, r.URL.RawQuery))
	if s.down {
		return nil, syscall.ECONNREFUSED
	}
	if code, ok := s.answers[crdsPath]; ok && path == crdsPath {
		return status(r, code), nil
	}
	for prefix, code := range s.answers {
		if strings.HasPrefix(path, prefix) {
			return status(r, code), nil
		}
	}
	if path == crdsPath {
		return s.definitions(r), nil
	}
	return s.discovery(r, path), nil
}

func (s *server) definitions(r *http.Request) *http.Response {
	if r.URL.Query().Get("fieldSelector") != "metadata.name=widgets.example.com" {
		return status(r, http.StatusBadRequest)
	}
	if r.URL.Query().Get("watch") == "" {
		list := map[string]any{"kind": "CustomResourceDefinitionList", "apiVersion": "apiextensions.k8s.io/v1"}
		if partial(r) {
			list = map[string]any{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1"}
		}
		list["metadata"] = map[string]any{"resourceVersion": fmt.Sprint(s.at)}
		list["items"] = []any{}
		if s.crd != nil {
			list["items"] = []any{s.shown(partial(r))}
		}
		return answer(r, list)
	}
	if r.URL.Query().Get("resourceVersion") != fmt.Sprint(s.at) { // it keeps no history
		return status(r, http.StatusGone)
	}
	body, w := io.Pipe()
	s.watches[w] = partial(r)
	go func() {
		<-r.Context().Done()
		_ = w.CloseWithError(r.Context().Err())
	}()
	response := answer(r, nil)
	response.Body = body
	return response
}

// define writes the definition. Versions maps each version to whether it is served.
func (s *server) define(established bool, versions map[string]bool) {
	kind := "MODIFIED"
	if s.crd == nil {
		kind = "ADDED"
	}
	s.at++
	var all []any
	for name, served := range versions {
		all = append(all, map[string]any{"name": name, "served": served})
	}
	s.crd = map[string]any{
		"kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1",
		"metadata": map[string]any{"name": "widgets.example.com", "uid": "1", "resourceVersion": fmt.Sprint(s.at)},
		"spec":     map[string]any{"versions": all},
		"status": map[string]any{"conditions": []any{
			map[string]any{"type": "NamesAccepted", "status": "True"},
			map[string]any{"type": "Established", "status": map[bool]string{true: "True", false: "False"}[established]},
		}},
	}
	s.send(kind)
}

func (s *server) undefine() {
	s.at++
	s.send("DELETED")
	s.crd = nil
}

func (s *server) send(kind string) {
	for w, partial := range s.watches {
		text, _ := json.Marshal(map[string]any{"type": kind, "object": s.shown(partial)})
		_, _ = w.Write(append(text, '\n'))
	}
}

// partial reports whether a client requests metadata only.
func partial(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata")
}

// shown returns the definition as a client sees it: in full, or only its metadata.
func (s *server) shown(partial bool) any {
	if !partial {
		return s.crd
	}
	return map[string]any{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": s.crd["metadata"]}
}

// cut ends all watches.
func (s *server) cut() {
	for w := range s.watches {
		_ = w.Close()
	}
	clear(s.watches)
}

func (s *server) discovery(r *http.Request, path string) *http.Response {
	words := strings.Split(strings.TrimPrefix(path, "/"), "/")
	group := metav1.APIGroup{TypeMeta: metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}}
	switch {
	case path == "/api":
		return answer(r, metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: s.served[""]})
	case path == "/apis":
		list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
		for name := range s.served {
			list.Groups = append(list.Groups, metav1.APIGroup{Name: name})
		}
		return answer(r, list)
	case len(words) == 2 && words[0] == "apis" && s.served[words[1]] != nil:
		group.Name = words[1]
		for _, v := range s.served[words[1]] {
			group.Versions = append(group.Versions, metav1.GroupVersionForDiscovery{GroupVersion: words[1] + "/" + v, Version: v})
		}
		return answer(r, group)
	case len(words) >= 2 && s.served[strings.Join(words[1:len(words)-1], "")] != nil:
		return answer(r, metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: strings.Join(words[1:], "/"),
			APIResources: []metav1.APIResource{
				{Name: "widgets/status", Verbs: metav1.Verbs{"get"}},
				{Name: map[bool]string{true: "gadgets", false: "widgets"}[words[len(words)-1] == "v0"], Verbs: metav1.Verbs{"get", "list", "watch"}},
			},
		})
	}
	return status(r, http.StatusNotFound)
}

func answer(r *http.Request, v any) *http.Response {
	text, _ := json.Marshal(v)
	return &http.Response{
		StatusCode: http.StatusOK, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}},
		Body:   io.NopCloser(bytes.NewReader(text)),
	}
}

// status returns an answer in plain text, as for a path that is not served.
func status(r *http.Request, code int) *http.Response {
	response := answer(r, nil)
	response.StatusCode = code
	response.Header.Set("Content-Type", "text/plain")
	response.Body = io.NopCloser(strings.NewReader(fmt.Sprintf("%d page not found\n", code)))
	return response
}

// asked returns the requests so far for paths with a prefix.
func (s *server) asked(prefix string) (some []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		if _, path, _ := strings.Cut(r, " "); strings.HasPrefix(path, prefix) {
			some = append(some, r)
		}
	}
	return some
}
