package sim_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// ownState is the server's state of a key from a version on.
type ownState struct {
	version int
	object  *unstructured.Unstructured // if gone, the last object
	gone    bool
	author  string // the author of the object's last change; "" for a DELETE
}

// ownHistory has all states of all objects in one history of the server.
type ownHistory struct {
	mu     sync.Mutex
	states map[key][]ownState // guarded by mu
	end    context.CancelFunc
}

// record follows the server until the history ends.
func (h *ownHistory) record(events <-chan watch.Event) {
	for e := range events {
		if e.Type == watch.Bookmark {
			continue
		}
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(e.Object)
		if err != nil {
			panic(err)
		}
		s := ownState{object: &unstructured.Unstructured{Object: content}, gone: e.Type == watch.Deleted}
		s.version, s.author = versionOf(s.object), s.object.GetAnnotations()["author"]
		k := keyOfAny(s.object)
		h.mu.Lock()
		if before := h.states[k]; len(before) > 0 && serialOf(before[len(before)-1].object) == serialOf(s.object) {
			s.author = ""
		}
		h.states[k] = append(h.states[k], s)
		h.mu.Unlock()
	}
}

// of returns the states of a key.
func (h *ownHistory) of(k key) []ownState {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.states[k]
}

// keys returns all keys that ever had an object.
func (h *ownHistory) keys() (all []key) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for k := range h.states {
		all = append(all, k)
	}
	slices.SortFunc(all, byName)
	return all
}

// newest returns the last state of a key. It is gone if there never was an object.
func (h *ownHistory) newest(k key) ownState {
	if states := h.of(k); len(states) > 0 {
		return states[len(states)-1]
	}
	return ownState{gone: true}
}

// at returns the state of an object at a version of the object.
func (h *ownHistory) at(k key, version int) (s ownState, before ownState, ok bool) {
	states := h.of(k)
	i := slices.IndexFunc(states, func(s ownState) bool { return s.version == version })
	if i < 0 {
		return ownState{}, ownState{gone: true}, false
	}
	before = ownState{gone: true}
	if i > 0 {
		before = states[i-1]
	}
	return states[i], before, true
}

// named returns the key of the object that a write has made, if any.
func (h *ownHistory) named(serial string) (found key, ok bool) {
	for _, k := range h.keys() {
		if slices.ContainsFunc(h.of(k), func(s ownState) bool { return serialOf(s.object) == serial }) {
			return k, true
		}
	}
	return key{}, false
}

// ownServer is the server of a world of own writes. It can be set back: a new server repeats the writes
// up to a moment, with the same versions and UIDs.
type ownServer struct {
	*informertest.Server
	resource schema.GroupVersionResource
	history  *ownHistory
	past     []*ownHistory
	writes   []func(*informertest.Server) // those that have changed something
	births   map[int]bool                 // the versions at which objects were created, in any history; UIDs are derived from them
	highest  int                          // the highest version in any history
	noStream bool
}

// serve starts a server that repeats the first writes of the last server.
func (s *ownServer) serve(k ownKind, writes int) {
	old := s.Server
	s.Server = informertest.New(informertest.Options{NoWatchList: s.noStream, ShardedListAndWatch: true})
	if k.kind.GVK.Group != "" {
		must(s.Register(k.kind))
	}
	if s.writes = s.writes[:writes]; old == nil { // requests to an earlier server may still read it
		s.resource = k.kind.GVR
	}
	if s.history != nil {
		s.history.end()
		s.past = append(s.past, s.history)
	}
	var ctx context.Context
	s.history = &ownHistory{states: map[key][]ownState{}}
	ctx, s.history.end = context.WithCancel(context.Background())
	w, err := s.Source(s.resource, "").Watch(ctx, metav1.ListOptions{ResourceVersion: "1"})
	must(err)
	go s.history.record(w.ResultChan())
	for _, write := range s.writes {
		write(s.Server)
	}
	must(s.StartInMemory())
	if old != nil {
		old.Close()
	}
}

// version returns the server's version.
func (s *ownServer) version() int {
	list, err := s.Source(s.resource, "").List(context.Background(), metav1.ListOptions{})
	must(err)
	return versionOf(list.(metav1.ListInterface))
}

// apply sends a write to the server, and records it if it has changed something.
func (s *ownServer) apply(r *http.Request, body string, send func() (*http.Response, error)) (*http.Response, int, error) {
	for r.Method == http.MethodPost && s.births[s.version()+1] {
		s.bump()
	}
	before := s.version()
	answer, err := send()
	after := s.version()
	if after > before {
		s.births[after] = s.births[after] || r.Method == http.MethodPost
		method, url, header := r.Method, r.URL.RequestURI(), r.Header.Clone()
		s.keep(after, func(to *informertest.Server) {
			again := httptest.NewRequest(method, url, strings.NewReader(body))
			again.Header = header
			to.ServeHTTP(httptest.NewRecorder(), again)
		})
	}
	return answer, after, err
}

// bump changes an object of another resource.
func (s *ownServer) bump() {
	write := func(to *informertest.Server) {
		must(to.Create(context.Background(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "z", GenerateName: "bump-"}}))
	}
	write(s.Server)
	s.keep(s.version(), write)
}

func (s *ownServer) keep(version int, write func(*informertest.Server)) {
	s.writes, s.highest = append(s.writes, write), max(s.highest, version)
}

func versionOf(o interface{ GetResourceVersion() string }) int {
	n, err := strconv.Atoi(o.GetResourceVersion())
	must(err)
	return n
}

func serialOf(o metav1.Object) string { return o.GetAnnotations()[markName] }

func keyOfAny(o metav1.Object) key { return key{Namespace: o.GetNamespace(), Name: o.GetName()} }

func must(err error) {
	if err != nil {
		panic("the world is invalid: " + err.Error())
	}
}
