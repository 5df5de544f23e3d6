package reflector_test

import (
	"context"
	"net/http"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/internal/keeper"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// shown is a sink that records the answers to writes and the deltas of the watch.
type shown struct {
	takes     func(ownwrites.Answer) // nil: at once
	committed chan struct{}
	once      sync.Once
	late      *atomic.Int32
	history   atomic.Uint64

	mu      sync.Mutex
	linked  []bool
	answers []ownwrites.Answer
	missed  []ownwrites.Answer // but for doubts, which are answers
	watched map[string]any     // by version
	changed chan struct{}
}

func newShown() *shown {
	s := &shown{committed: make(chan struct{}), late: new(atomic.Int32), watched: map[string]any{}, changed: make(chan struct{}, 1)}
	s.history.Store(7)
	return s
}

func (s *shown) Begin(context.Context, reflector.History) error { return nil }

func (s *shown) Abort(context.Context) error { return nil }

func (s *shown) Commit(context.Context, string) error {
	s.once.Do(func() { close(s.committed) })
	return nil
}

func (s *shown) Write(_ context.Context, batch []deltafifo.Delta) error {
	s.mu.Lock()
	defer s.mu.Unlock()

	for _, d := range batch {
		s.watched[d.Version] = d.Object
	}
	select {
	case s.changed <- struct{}{}:
	default:
	}
	return nil
}

func (s *shown) Connect(keeper.Reflector) keeper.Form { return keeper.Form{} }

func (s *shown) Recall(object.Identity) (any, bool) { return nil, false }

func (s *shown) Reuse([]deltafifo.Delta) {}

func (s *shown) Linked(selects bool) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.linked = append(s.linked, selects)
}

func (s *shown) Unlinked() {}

func (s *shown) Begins(indexer.Key) ownwrites.Before {
	return ownwrites.Before{History: s.history.Load()}
}

func (s *shown) Answered(a ownwrites.Answer) {
	s.mu.Lock()
	s.answers = append(s.answers, a)
	s.mu.Unlock()
	if s.takes != nil {
		s.takes(a)
	}
}

func (s *shown) Missed(a ownwrites.Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if a.Kind == ownwrites.Doubt {
		s.answers = append(s.answers, a)
	} else {
		s.missed = append(s.missed, a)
	}
}

func (s *shown) Late() *atomic.Int32 { return s.late }

// take returns the answers since the last call.
func (s *shown) take() []ownwrites.Answer {
	s.mu.Lock()
	defer s.mu.Unlock()

	taken := s.answers
	s.answers = nil
	return taken
}

// one returns the only answer since the last call.
func (s *shown) one(t *testing.T) ownwrites.Answer {
	t.Helper()
	found := s.take()
	require.Len(t, found, 1)
	return found[0]
}

// object returns the object that the watch has brought at a version, when it has.
func (s *shown) object(version string) any {
	for {
		s.mu.Lock()
		object, ok := s.watched[version]
		s.mu.Unlock()
		if ok {
			return object
		}
		<-s.changed
	}
}

// reads runs a reflector until the returned function is called, which waits for its end.
func reads(t testing.TB, source reflector.Source, s *shown, example any) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- reflector.New(source, s, reflector.Options{Type: reflect.TypeOf(example)}).Run(ctx) }()
	<-s.committed
	return func() {
		cancel()
		require.NoError(t, <-ended)
	}
}

// inMemory is a server with clients whose transports a test sets.
func inMemory(t testing.TB) (*informertest.Server, *rest.Config) {
	t.Helper()
	server := informertest.New(informertest.Options{})
	t.Cleanup(server.Close)
	require.NoError(t, server.StartInMemory())
	config := server.ClientConfig()
	return server, config
}

func typedClient(t testing.TB, config *rest.Config) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return client
}

func podSource(c kubernetes.Interface, namespace string) reflector.Source {
	return reflector.FromGenerated[*corev1.Pod](c.CoreV1().Pods(namespace), podResource)
}

// round is a transport of one function.
type round func(*http.Request) (*http.Response, error)

func (f round) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func kinds(answers []ownwrites.Answer) (all []ownwrites.Kind) {
	for _, a := range answers {
		all = append(all, a.Kind)
	}
	return all
}

// answering is a transport that reads as the server does, and answers writes as a test wants.
func answering(config *rest.Config, write func(*http.Request) (*http.Response, error)) *reflector.OwnWrites {
	own := reflector.NewOwnWrites()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return round(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodGet {
				return next.RoundTrip(r)
			}
			return write(r)
		})
	})
	config.Wrap(own.Wire)
	return own
}

// wireOf returns the whole transport of a config, and the URL of pod a.
func wireOf(t testing.TB, config *rest.Config) (http.RoundTripper, string) {
	t.Helper()
	rt, err := rest.TransportFor(config)
	require.NoError(t, err)
	return rt, config.Host + "/api/v1/namespaces/ns/pods/a"
}

// podText is a pod in JSON.
const podText = `{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"ns","name":"a","uid":"u","resourceVersion":"99999"}}`
