package reflector_test

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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2" //nolint:depguard // to silence client-go's reflector, the other side

	"github.com/tidemark-k8s/tidemark/reflector"
)

// request is the request that gets a body under test.
type request string

// answer is a body under test, and how the server sends it.
type answer struct {
	to          request
	contentType string
	body        []byte
	flushes     []int // how many bytes are sent at once; the rest follows as a whole
	strict      bool  // an undecodable object fails its request
	cut         bool  // the connection ends before the announced length
}

// bodyServer answers each namespace's first request of one kind by an answer under test, and all
// others with valid bodies.
type bodyServer struct {
	*httptest.Server
	visits sync.Map // by namespace
	last   int
}

// visit is one client's turn.
type visit struct {
	answer *answer
	over   context.CancelFunc // called when the client has taken in the answer

	mu       sync.Mutex
	answered bool
}

// first says whether the request is the one that gets the answer.
func (v *visit) first(r request) bool {
	v.mu.Lock()
	defer v.mu.Unlock()

	first := r == v.answer.to && !v.answered
	v.answered = v.answered || first
	return first
}

func (v *visit) done() bool {
	v.mu.Lock()
	defer v.mu.Unlock()

	return v.answered
}

func newBodyServer(tb testing.TB) *bodyServer {
	s := &bodyServer{}
	s.Server = httptest.NewServer(s)
	tb.Cleanup(s.Close)
	tb.Cleanup(s.CloseClientConnections)
	return s
}

const (
	validList     = `{"kind":"%[1]sList","apiVersion":"%[2]s","metadata":{"resourceVersion":"5"},"items":[{"kind":"%[1]s","apiVersion":"%[2]s","metadata":{"namespace":"ns","name":"first","uid":"u-first","resourceVersion":"3"}}]}`
	invalidStatus = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`
)

func (s *bodyServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	namespace := strings.Split(strings.TrimPrefix(r.URL.Path, "/api/v1/namespaces/"), "/")[0]
	found, ok := s.visits.Load(namespace)
	if !ok {
		panic("no turn of " + r.URL.Path)
	}
	v, q := found.(*visit), r.URL.Query()
	kind := forList
	switch {
	case q.Get("sendInitialEvents") != "":
		kind = forStream
	case q.Get("watch") != "":
		kind = forWatch
	}
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	switch {
	case v.first(kind):
		v.answer.write(w)
	case kind == forStream && !v.done():
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = io.WriteString(w, invalidStatus)
	case kind == forList && (!v.done() || v.answer.to == forList && q.Get("continue") != ""):
		object, version := "Pod", "v1"
		if strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadataList") {
			object, version = "PartialObjectMetadata", "meta.k8s.io/v1"
		}
		_, _ = fmt.Fprintf(w, validList, object, version)
	default:
		v.over()
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
}

// write sends the answer. The client may be gone.
func (a *answer) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", a.contentType)
	if a.cut {
		w.Header().Set("Content-Length", fmt.Sprint(len(a.body)+1))
	}
	rest := a.body
	for _, n := range a.flushes {
		n = min(n, len(rest))
		_, _ = w.Write(rest[:n])
		_ = http.NewResponseController(w).Flush()
		rest = rest[n:]
	}
	_, _ = w.Write(rest)
}

// turn visits the server with a namespace of its own, until the answer is taken in.
func (s *bodyServer) turn(a *answer, visitor func(ctx context.Context, namespace string)) {
	s.last++
	namespace := fmt.Sprint("n", s.last)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s.visits.Store(namespace, &visit{answer: a, over: cancel})
	defer s.visits.Delete(namespace)
	visitor(ctx, namespace)
}

func (s *bodyServer) config(wire bool, contentType string) *rest.Config {
	c := &rest.Config{Host: s.URL, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: contentType}}
	if wire {
		c.Wrap(reflector.Wire)
	}
	return c
}

// theirs lets client-go's reflector take in an answer.
func (s *bodyServer) theirs(l library, a *answer) *side {
	got := &side{}
	s.turn(a, func(ctx context.Context, namespace string) {
		source := l.theirs(namespace)
		lw := &cache.ListWatch{
			ListWithContextFunc: source.List,
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				w, err := source.Watch(ctx, o)
				if err != nil {
					return nil, err
				}
				return noteErrors(w, got), nil
			},
		}
		silent := klog.New(nil)
		r := cache.NewReflectorWithOptions(asClient{lw, a.to == forStream}, l.object, got, cache.ReflectorOptions{Name: "theirs", Logger: &silent})
		ended := ctx.Err
		if err := r.ListAndWatchWithContext(ctx); err != nil && ended() == nil {
			got.failure = err
		}
	})
	got.watches.Wait()
	return got
}

// ours lets our reflector take in an answer.
func (s *bodyServer) ours(l library, a *answer) *side {
	got := &side{}
	s.turn(a, func(ctx context.Context, namespace string) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		r := reflector.New(l.ours(namespace), &sinkSide{side: got, streams: a.to == forStream}, reflector.Options{
			Name:     "ours",
			Decoding: reflector.Decoding{FailOnUndecodable: a.strict},
			Type:     reflect.TypeOf(l.object),
			Observe: func(e reflector.Event) {
				switch e := e.(type) {
				case reflector.Failed:
					if ctx.Err() == nil {
						got.failure = e.Err
						cancel()
					}
				case reflector.StreamRefused:
					if a.to == forStream {
						got.failure = fmt.Errorf("%w: %s", errStreamRefused, e.Reason)
						cancel()
					}
				case reflector.HistoryWentBack:
					got.older = true
				case reflector.Skipped:
					got.left = append(got.left, e.Err)
				case reflector.Undecodable:
					got.left = append(got.left, e.Err)
				}
			},
		})
		_ = r.Run(ctx)
	})
	return got
}
