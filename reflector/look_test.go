package reflector_test

import (
	"context"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
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

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/internal/keeper"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// lookingSource returns a source that looks in each list and watch.
func lookingSource(s reflector.Source, o *kit.Onlooker) reflector.Source {
	inner := s
	s.List = func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		o.Look("source")
		return inner.List(ctx, options)
	}
	s.Watch = func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
		o.Look("source")
		return inner.Watch(ctx, options)
	}
	return s
}

// lookingSink looks in each of its methods, and keeps the names of the objects.
type lookingSink struct {
	keeper.Sink // no other method is called
	o           *kit.Onlooker

	mu            sync.Mutex
	names, staged map[string]bool
}

func (s *lookingSink) Begin(context.Context, reflector.History) error {
	s.o.Look("sink")
	s.staged = map[string]bool{}
	return nil
}

func (s *lookingSink) Commit(context.Context, string) error {
	s.o.Look("sink")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names, s.staged = s.staged, nil
	return nil
}

func (s *lookingSink) Abort(context.Context) error {
	s.o.Look("sink")
	s.staged = nil
	return nil
}

func (s *lookingSink) Write(_ context.Context, batch []deltafifo.Delta) error {
	s.o.Look("sink")
	s.mu.Lock()
	defer s.mu.Unlock()
	into := s.names
	if s.staged != nil {
		into = s.staged
	}
	for _, d := range batch {
		switch d.Op {
		case deltafifo.Deleted:
			delete(into, d.Key.Name)
		case deltafifo.Bookmark:
		default:
			into[d.Key.Name] = true
		}
	}
	return nil
}

// Recall has nothing.
func (s *lookingSink) Recall(object.Identity) (any, bool) {
	s.o.Look("recall")
	return nil, false
}

func (*lookingSink) Reuse([]deltafifo.Delta) {}

func (s *lookingSink) Connect(keeper.Reflector) keeper.Form {
	return keeper.Form{Timed: func(time.Duration) { s.o.Look("timed") }}
}

// looksAtReflector makes an onlooker look at all that a reflector shows.
func looksAtReflector(o *kit.Onlooker, r *reflector.Reflector) {
	o.At(func() { r.Version() })
	o.At(func() { _ = r.Run(context.Background()) }) // it runs
}

// A program may look at a reflector from within each of its callbacks: nothing of a user's is called under
// a lock that a look takes.
func TestAProgramThatLooksAtTheReflector(t *testing.T) {
	kit.EndsSoon(t)
	generated := func(config *rest.Config) kubernetes.Interface {
		client, err := kubernetes.NewForConfig(config)
		require.NoError(t, err)
		return client
	}
	for name, row := range map[string]struct {
		object    runtime.Object
		source    func(*rest.Config, *informertest.Server, *kit.Onlooker) reflector.Source
		callbacks []string // beside those of each reflector
	}{
		"generated": {&corev1.Pod{}, func(config *rest.Config, _ *informertest.Server, _ *kit.Onlooker) reflector.Source {
			return reflector.FromGenerated[*corev1.Pod](generated(config).CoreV1().Pods(""), podResource)
		}, []string{"transport", "check", "recall"}},
		"dynamic": {&unstructured.Unstructured{}, func(config *rest.Config, _ *informertest.Server, _ *kit.Onlooker) reflector.Source {
			client, err := dynamic.NewForConfig(config)
			require.NoError(t, err)
			return reflector.FromDynamic(client, podResource, "")
		}, []string{"transport", "check", "recall"}},
		"metadata": {&metav1.PartialObjectMetadata{}, func(config *rest.Config, _ *informertest.Server, _ *kit.Onlooker) reflector.Source {
			client, err := metadata.NewForConfig(config)
			require.NoError(t, err)
			return reflector.FromMetadata(client, podResource, "")
		}, []string{"transport", "check", "recall"}},
		"decoded by the client": {&corev1.Pod{}, func(config *rest.Config, _ *informertest.Server, _ *kit.Onlooker) reflector.Source {
			return reflector.From(generated(config).CoreV1().Pods(""))
		}, []string{"transport", "check"}},
		"a source of the user's": {&corev1.Pod{}, func(_ *rest.Config, server *informertest.Server, o *kit.Onlooker) reflector.Source {
			return lookingSource(server.Source(podResource, ""), o)
		}, []string{"source", "check"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := informertest.New(informertest.Options{BookmarkInterval: time.Minute})
				defer server.Close()
				require.NoError(t, server.StartInMemory())
				o := &kit.Onlooker{}
				config := server.ClientConfig()
				config.Wrap(reflector.Wire)
				config.Wrap(o.Transport)
				source := row.source(config, server, o)
				source.Tweak = func(*metav1.ListOptions) { o.Look("tweak") }
				sink := &lookingSink{o: o}
				r := reflector.New(source, sink, reflector.Options{
					Type:    reflect.TypeOf(row.object),
					Check:   func(runtime.Object) error { o.Look("check"); return nil },
					Observe: func(reflector.Event) { o.Look("observer") },
					Rand:    func() float64 { o.Look("rand"); return 0.5 },
					Backoff: func(int) time.Duration { o.Look("backoff"); return time.Second },
					After:   func(d time.Duration) <-chan time.Time { o.Look("after"); return time.After(d) },
				})
				looksAtReflector(o, r)
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- r.Run(ctx) }()
				for _, name := range []string{"a", "b", "c"} {
					require.NoError(t, server.Create(ctx, pod(name, "1")))
					time.Sleep(time.Minute)
					allow := server.Forbid(informertest.Request{Verb: "watch"})
					server.CutWatches()
					require.NoError(t, server.Update(ctx, pod(name, "2")))
					server.Compact() // a list follows
					time.Sleep(10 * time.Second)
					allow()
					time.Sleep(time.Minute)
				}
				require.NoError(t, server.Delete(ctx, pod("b", "")))
				time.Sleep(time.Minute)
				cancel()
				require.NoError(t, <-ended)
				require.Equal(t, map[string]bool{"a": true, "c": true}, sink.names)
				for _, callback := range append(row.callbacks, "sink", "tweak", "observer", "rand", "backoff", "after") {
					require.NotZero(t, o.Looked()[callback], callback)
				}
			})
		})
	}
}
