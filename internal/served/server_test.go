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

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

var widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

// server is the transport to an API server that has discovery, and nothing else.
type server struct {
	mu       sync.Mutex
	requests []string            // the paths
	served   map[string][]string // the versions of widgets in discovery, by group
	answers  map[string]int      // the status that requests are answered with whose path begins so
	down     bool                // connections are refused
}

func newServer() *server {
	return &server{served: map[string][]string{}, answers: map[string]int{}}
}

func (s *server) config() (*rest.Config, *http.Client) {
	return &rest.Config{Host: "http://server/prefix"}, &http.Client{Transport: s}
}

func (s *server) dynamic(t *testing.T) Documents {
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

func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path, ok := strings.CutPrefix(r.URL.Path, "/prefix")
	if !ok {
		return nil, fmt.Errorf("a request without the prefix: %s", r.URL)
	}
	s.requests = append(s.requests, path)
	if s.down {
		return nil, syscall.ECONNREFUSED
	}
	for prefix, code := range s.answers {
		if strings.HasPrefix(path, prefix) {
			return status(r, code), nil
		}
	}
	return s.discovery(r, path), nil
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

// asked counts the requests so far of a path.
func (s *server) asked(path string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		if r == path {
			n++
		}
	}
	return n
}
