package reflector

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
)

// pods is an HTTP server of pods whose answers are a test's. Each function answers
// the n-th request of its kind, counted from 0; without one lists are empty, at
// version 5, and watches silent.
type pods struct {
	list, stream, watch func(n int, w http.ResponseWriter, r *http.Request)

	mu    sync.Mutex
	asked []string       // "list", "stream", "watch", with the version
	at    []time.Time    // when
	count map[string]int // by kind
}

func (p *pods) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	kind, answer := "list", p.list
	switch {
	case q.Get("sendInitialEvents") != "":
		kind, answer = "stream", p.stream
	case q.Get("watch") != "":
		kind, answer = "watch", p.watch
	}
	p.mu.Lock()
	n := p.count[kind]
	p.count[kind]++
	p.asked = append(p.asked, fmt.Sprintf("%s at %q", kind, q.Get("resourceVersion")))
	p.at = append(p.at, time.Now())
	p.mu.Unlock()
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	switch {
	case answer != nil:
		answer(n, w, r)
	case kind == "list":
		_, _ = io.WriteString(w, podList("5"))
	default:
		stays(w, r)
	}
}

// requests returns the requests so far.
func (p *pods) requests() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.asked, ", ")
}

// endText returns the metadata of the bookmark at the end of an initial state.
func endText(version string) string {
	return fmt.Sprintf(`{"metadata":{"resourceVersion":%q,"annotations":{"k8s.io/initial-events-end":"true"}}}`, version)
}

// stays flushes the answer and keeps it open.
func stays(w http.ResponseWriter, r *http.Request) {
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

// serve starts the server.
func (p *pods) serve(t *testing.T) *rest.Config {
	t.Helper()
	p.count = map[string]int{}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	return &rest.Config{Host: server.URL}
}

// testClient makes a source of a server, with one of the clients.
type testClient struct {
	object reflect.Type
	source func(*testing.T, *rest.Config) Source
}

var clients = map[string]testClient{
	"generated": {typeOfPod, func(t *testing.T, config *rest.Config) Source {
		client, err := kubernetes.NewForConfig(config)
		require.NoError(t, err)
		return FromGenerated[*corev1.Pod](client.CoreV1().Pods(""), podGVR)
	}},
	"dynamic": {reflect.TypeFor[*unstructured.Unstructured](), func(t *testing.T, config *rest.Config) Source {
		config.Wrap(Wire)
		client, err := dynamic.NewForConfig(config)
		require.NoError(t, err)
		return FromDynamic(client, podGVR, "")
	}},
	"metadata": {reflect.TypeFor[*metav1.PartialObjectMetadata](), func(t *testing.T, config *rest.Config) Source {
		config.Wrap(Wire)
		client, err := metadata.NewForConfig(config)
		require.NoError(t, err)
		return FromMetadata(client, podGVR, "")
	}},
	"a bare ListWatch": {typeOfPod, func(t *testing.T, config *rest.Config) Source {
		config.Wrap(Wire)
		client, err := kubernetes.NewForConfig(config)
		require.NoError(t, err)
		c := client.CoreV1().Pods("")
		return FromListerWatcher(&cache.ListWatch{
			ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return c.List(ctx, o) },
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return c.Watch(ctx, o) },
		})
	}},
}

// follower records the deltas and events of a reflector. After each of them it checks a condition.
type follower struct {
	t *testing.T

	mu        sync.Mutex
	looked    chan struct{}
	events    []Event
	stored    map[indexer.Key]string // the versions of the objects
	staged    map[indexer.Key]string // nil while there is no full state under way
	committed string
}

// follow runs a reflector of a source until the test ends. The follower's conditions must hold within
// ten seconds.
func follow(t *testing.T, source Source, object reflect.Type, o Options) *follower {
	t.Helper()
	f := &follower{t: t, looked: make(chan struct{}, 1), stored: map[indexer.Key]string{}}
	o.Name, o.Type = "pods", object
	o.Rand = func() float64 { return 0 }
	o.Observe = func(e Event) { f.change(func() { f.events = append(f.events, e) }) }
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- New(source, f, o).Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	return f
}

func (f *follower) change(change func()) {
	f.mu.Lock()
	change()
	f.mu.Unlock()
	select {
	case f.looked <- struct{}{}:
	default:
	}
}

// until waits until a condition holds.
func (f *follower) until(holds func() bool) {
	f.t.Helper()
	late := time.After(20 * time.Second)
	for {
		f.mu.Lock()
		done := holds()
		f.mu.Unlock()
		if done {
			return
		}
		select {
		case <-f.looked:
		case <-late:
			f.notCome()
		}
	}
}

func (f *follower) notCome() {
	f.mu.Lock()
	defer f.mu.Unlock()
	require.FailNow(f.t, "this has not come", "stored %v, got events %+v", f.stored, f.events)
}

// watching returns the condition that a number of watches have begun.
func (f *follower) watching(times int) func() bool {
	return func() bool { return len(eventsOf[WatchStarted](f)) >= times }
}

// eventsOf returns the events of a type so far. The caller holds mu.
func eventsOf[E Event](f *follower) (all []E) {
	for _, e := range f.events {
		if e, ok := e.(E); ok {
			all = append(all, e)
		}
	}
	return all
}

func (f *follower) Begin(context.Context, History) error {
	f.change(func() { f.staged = map[indexer.Key]string{} })
	return nil
}

func (f *follower) Abort(context.Context) error {
	f.change(func() { f.staged = nil })
	return nil
}

func (f *follower) Commit(_ context.Context, version string) error {
	f.change(func() { f.stored, f.staged, f.committed = f.staged, nil, version })
	return nil
}

func (f *follower) Write(_ context.Context, batch []deltafifo.Delta) error {
	f.change(func() {
		to := f.stored
		if f.staged != nil {
			to = f.staged
		}
		for _, d := range batch {
			switch d.Op {
			case deltafifo.Deleted:
				delete(to, d.Key)
			case deltafifo.Bookmark, deltafifo.Progress:
			default:
				to[d.Key] = d.Version
			}
		}
	})
	return nil
}
