package reflector_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/internal/keeper"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
	"github.com/tidemark-k8s/tidemark/internal/verify"
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
func (s *shown) Abort(context.Context) error                    { return nil }

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
func (s *shown) Recall(object.Identity) (any, bool)   { return nil, false }
func (s *shown) Reuse([]deltafifo.Delta)              {}

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

// Reflectors of all sources that the reflector decodes get the objects of answers, as they get those of a
// watch.
func TestOwnWritesOfEachSource(t *testing.T) {
	type source func(*testing.T, *rest.Config) reflector.Source
	generated := func(t *testing.T, c *rest.Config) reflector.Source { return podSource(typedClient(t, c), "ns") }
	for _, row := range []struct {
		name, contentType string
		source            source
		example           any
	}{
		{"generated, JSON", kruntime.ContentTypeJSON, generated, &corev1.Pod{}},
		{"generated, protobuf", kruntime.ContentTypeProtobuf, generated, &corev1.Pod{}},
		{"custom resource", kruntime.ContentTypeJSON, func(t *testing.T, c *rest.Config) reflector.Source {
			return reflector.FromCustomResource[*corev1.Pod](typedClient(t, c).CoreV1().Pods(""), podResource)
		}, &corev1.Pod{}},
		{"dynamic", kruntime.ContentTypeJSON, func(t *testing.T, c *rest.Config) reflector.Source {
			client, err := dynamic.NewForConfig(c)
			require.NoError(t, err)
			return reflector.FromDynamic(client, podResource, "")
		}, &unstructured.Unstructured{}},
		{"metadata", kruntime.ContentTypeJSON, func(t *testing.T, c *rest.Config) reflector.Source {
			client, err := metadata.NewForConfig(c)
			require.NoError(t, err)
			return reflector.FromMetadata(client, podResource, "")
		}, &metav1.PartialObjectMetadata{}},
		{"controller-runtime", kruntime.ContentTypeJSON, func(t *testing.T, c *rest.Config) reflector.Source {
			pods := typedClient(t, c).CoreV1().Pods("ns")
			return reflector.FromControllerRuntime(&cache.ListWatch{
				ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (kruntime.Object, error) { return pods.List(ctx, o) },
				WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
					return pods.Watch(ctx, o)
				},
			}, &corev1.Pod{})
		}, &corev1.Pod{}},
	} {
		for _, wires := range []string{"", ", with Wire inside"} {
			t.Run(row.name+wires, func(t *testing.T) {
				_, config := inMemory(t)
				config.ContentType, config.AcceptContentTypes = row.contentType, row.contentType
				if wires != "" {
					config.Wrap(reflector.Wire)
				}
				own := reflector.NewOwnWrites()
				config.Wrap(own.Wire)
				s := newShown()
				defer reads(t, row.source(t, config), s, row.example)()
				require.Equal(t, []bool{false}, s.linked)

				shows := func(want ownwrites.Kind, version string) {
					t.Helper()
					a := s.one(t)
					require.Equal(t, [2]any{want, ownwrites.Inside}, [2]any{a.Kind, a.Scope})
					require.Equal(t, indexer.Key{Namespace: "ns", Name: "a"}, a.Key)
					require.Equal(t, version, a.Version)
					require.EqualValues(t, 7, a.Before.History)
					require.True(t, apiequality.Semantic.DeepEqual(s.object(version), a.Object), "%#v\n%#v", s.object(version), a.Object)
				}
				pods := typedClient(t, config).CoreV1().Pods("ns")
				p, err := pods.Create(t.Context(), pod("a", "1"), metav1.CreateOptions{})
				require.NoError(t, err)
				shows(ownwrites.Object, p.ResourceVersion)
				require.True(t, own.Made("", nil, p), "a creation")
				require.False(t, own.Made("w", (*corev1.Pod)(nil), p))
				before := p.DeepCopy()
				p.Status.Phase = corev1.PodRunning
				p, err = pods.UpdateStatus(reflector.WithWriter(t.Context(), "w"), p, metav1.UpdateOptions{})
				require.NoError(t, err)
				require.True(t, own.Made("w", before, p))
				require.False(t, own.Made("", before, p))
				another := before.DeepCopy()
				another.UID = "another"
				require.False(t, own.Made("w", another, p))
				require.False(t, own.Made("w", p, p))
				require.False(t, own.Made("w", (*corev1.Pod)(nil), p))
				require.False(t, own.Made("w", nil, nil))
				shows(ownwrites.Object, p.ResourceVersion)
				before = p.DeepCopy()
				p, err = pods.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"metadata":{"labels":{"n":"2"}}}`), metav1.PatchOptions{})
				require.NoError(t, err)
				require.False(t, own.Made("", before, p), "a write without a condition")
				shows(ownwrites.Object, p.ResourceVersion)
				require.NoError(t, pods.Delete(t.Context(), "a", metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}))
				require.Empty(t, s.take())
				require.NoError(t, pods.Delete(t.Context(), "a", metav1.DeleteOptions{GracePeriodSeconds: new(int64)}))
				a := s.one(t)
				require.Equal(t, ownwrites.Deleted, a.Kind)
				require.NotNil(t, a.Object)
			})
		}
	}
}

// What the program has made is forgotten when the server's history goes back, and so is a write that was under way.
func TestMadeIsForgottenWithTheHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, config := inMemory(t)
		var restored, slow atomic.Bool
		hold := make(chan struct{})
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return round(func(r *http.Request) (*http.Response, error) {
				answer, err := next.RoundTrip(r)
				if r.Method == http.MethodPost && slow.Load() {
					<-hold
				}
				return answer, err
			})
		})
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return round(func(r *http.Request) (*http.Response, error) {
				if r.Method != http.MethodGet || !restored.Load() {
					return next.RoundTrip(r)
				}
				code, text := http.StatusOK, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`
				if r.URL.Query().Get("watch") != "" {
					code, text = http.StatusGone, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}`
				}
				return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text))}, nil
			})
		})
		own := reflector.NewOwnWrites()
		config.Wrap(own.Wire)
		client := typedClient(t, config)
		defer reads(t, podSource(client, ""), newShown(), &corev1.Pod{})()
		_, err := client.CoreV1().Pods("ns").Create(t.Context(), pod("a", "1"), metav1.CreateOptions{})
		require.NoError(t, err)
		p, err := client.CoreV1().Pods("ns").Create(t.Context(), pod("b", "1"), metav1.CreateOptions{})
		require.NoError(t, err)
		time.Sleep(2 * time.Second)
		require.True(t, own.Made("", nil, p))
		slow.Store(true)
		late := make(chan *corev1.Pod)
		go func() {
			c, err := client.CoreV1().Pods("ns").Create(t.Context(), pod("c", "1"), metav1.CreateOptions{})
			assert.NoError(t, err)
			late <- c
		}()
		synctest.Wait()
		restored.Store(true)
		server.CutWatches()
		time.Sleep(time.Minute)
		require.False(t, own.Made("", nil, p))
		close(hold)
		require.False(t, own.Made("", nil, <-late))
	})
}

// A write that is under way when the server's history goes back belongs to the history in which it began.
func TestAWriteBelongsToTheHistoryInWhichItBegan(t *testing.T) {
	_, config := inMemory(t)
	s := newShown()
	answering(config, func(*http.Request) (*http.Response, error) {
		s.history.Store(8)
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(podText))}, nil
	})
	client := typedClient(t, config)
	defer reads(t, podSource(client, ""), s, &corev1.Pod{})()
	_, err := client.CoreV1().Pods("ns").Update(t.Context(), pod("a", "1"), metav1.UpdateOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 7, s.one(t).Before.History)
}

// A handler of a store that shows an object may ask at once.
func TestMadeIsKnownWhenAStoreShowsTheObject(t *testing.T) {
	_, config := inMemory(t)
	own := reflector.NewOwnWrites()
	config.Wrap(own.Wire)
	client, s := typedClient(t, config), newShown()
	var made []bool
	s.takes = func(a ownwrites.Answer) { made = append(made, own.Made("", nil, a.Object.(*corev1.Pod))) }
	defer reads(t, podSource(client, ""), s, &corev1.Pod{})()
	_, err := client.CoreV1().Pods("ns").Create(t.Context(), pod("a", "1"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, []bool{true}, made)
}

// Each reflector gets the answers that concern it: by namespace, selector, kind and user.
func TestOwnWritesByReader(t *testing.T) {
	_, config := inMemory(t)
	own := reflector.NewOwnWrites()
	config.Wrap(own.Wire)
	client := typedClient(t, config)
	tweaked := func(tweak func(*metav1.ListOptions)) reflector.Source {
		source := podSource(client, "")
		source.Tweak = tweak
		return source
	}
	all, elsewhere, selected, byField := newShown(), newShown(), newShown(), newShown()
	defer reads(t, podSource(client, ""), all, &corev1.Pod{})()
	defer reads(t, podSource(client, "other"), elsewhere, &corev1.Pod{})()
	defer reads(t, tweaked(func(o *metav1.ListOptions) { o.LabelSelector = "n=2" }), selected, &corev1.Pod{})()
	defer reads(t, tweaked(func(o *metav1.ListOptions) { o.FieldSelector = "status.phase=Running" }), byField, &corev1.Pod{})()
	require.Equal(t, []bool{true}, selected.linked)
	other := rest.CopyConfig(config)
	other.Impersonate = rest.ImpersonationConfig{UserName: "somebody", Groups: []string{"b", "a"}}
	impersonating := newShown()
	otherClient := typedClient(t, other)
	defer reads(t, podSource(otherClient, ""), impersonating, &corev1.Pod{})()

	pods := client.CoreV1().Pods("ns")
	p, err := pods.Create(t.Context(), pod("a", "1"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, ownwrites.Inside, all.one(t).Scope)
	a := selected.one(t)
	require.Equal(t, [2]any{ownwrites.Outside, p.ResourceVersion}, [2]any{a.Scope, a.Version})
	require.Nil(t, a.Object)
	a = byField.one(t)
	require.Equal(t, ownwrites.Unknown, a.Scope)
	require.Nil(t, a.Object)
	require.Empty(t, append(elsewhere.take(), impersonating.take()...))

	p.Labels["n"] = "2"
	_, err = otherClient.CoreV1().Pods("ns").Update(t.Context(), p, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.Equal(t, ownwrites.Inside, impersonating.one(t).Scope)
	require.Empty(t, append(all.take(), selected.take()...))

	_, err = client.CoreV1().ConfigMaps("ns").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, pods.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	require.Equal(t, ownwrites.Doubt, all.one(t).Kind)
	require.Empty(t, elsewhere.take())
}

// Clients whose configs spell the server's address in different ways have one server.
func TestOwnWritesAtAnotherSpelling(t *testing.T) {
	_, config := inMemory(t)
	config.Wrap(reflector.NewOwnWrites().Wire)
	other := rest.CopyConfig(config)
	other.Host = strings.ToUpper(strings.TrimPrefix(config.Host, "http://")) + ":80"
	s := newShown()
	defer reads(t, podSource(typedClient(t, config), ""), s, &corev1.Pod{})()
	p, err := typedClient(t, other).CoreV1().Pods("ns").Create(t.Context(), pod("a", "1"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, p.ResourceVersion, s.one(t).Version)
}

// An answer whose object is malformed behind its metadata says what the write has done. The object comes from
// the watch.
func TestAnswersThatCannotBeDecoded(t *testing.T) {
	_, config := inMemory(t)
	answering(config, func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(podText[:len(podText)-1]))}, nil
	})
	sink := newShown()
	defer reads(t, podSource(typedClient(t, config), ""), sink, &corev1.Pod{})()
	rt, _ := wireOf(t, config)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, config.Host+"/api/v1/namespaces/ns/pods/a", strings.NewReader("{}"))
	require.NoError(t, err)
	answer, err := rt.RoundTrip(request)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	a := sink.one(t)
	require.Equal(t, [2]any{ownwrites.Object, ownwrites.Unknown}, [2]any{a.Kind, a.Scope})
	require.NotEmpty(t, a.Version)
	require.Nil(t, a.Object)
}

// Text in place of a list or a watch fails that request. What the program writes is shown as before.
func TestOwnWritesAfterATextForAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, config := inMemory(t)
		texts := map[string]bool{} // by what is asked for
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return round(func(r *http.Request) (*http.Response, error) {
				if what := r.URL.Query().Get("watch"); r.Method == http.MethodGet && !texts[what] {
					texts[what] = true
					return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/plain"}}, Body: io.NopCloser(strings.NewReader("wait"))}, nil
				}
				return next.RoundTrip(r)
			})
		})
		config.Wrap(reflector.NewOwnWrites().Wire)
		client, s := typedClient(t, config), newShown()
		defer reads(t, podSource(client, ""), s, &corev1.Pod{})()
		require.Len(t, texts, 2)
		p, err := client.CoreV1().Pods("ns").Create(t.Context(), pod("a", "1"), metav1.CreateOptions{})
		require.NoError(t, err)
		require.Equal(t, p.ResourceVersion, s.one(t).Version)
	})
}

func kinds(answers []ownwrites.Answer) (all []ownwrites.Kind) {
	for _, a := range answers {
		all = append(all, a.Kind)
	}
	return all
}

// A request that is no list or watch of a running reflector links none.
func TestOnlyReflectorsAreLinked(t *testing.T) {
	_, config := inMemory(t)
	config.Wrap(reflector.NewOwnWrites().Wire)
	client := typedClient(t, config)
	create := func(name string) {
		t.Helper()
		_, err := client.CoreV1().Pods("ns").Create(t.Context(), pod(name, "1"), metav1.CreateOptions{})
		require.NoError(t, err)
	}
	plain, s := newShown(), newShown()
	defer reads(t, reflector.From(client.CoreV1().Pods("")), plain, &corev1.Pod{})()
	source := podSource(client, "")
	version, err := reflector.Newest(t.Context(), source)
	require.NoError(t, err)
	_, err = source.List(t.Context(), metav1.ListOptions{ResourceVersion: version, ResourceVersionMatch: metav1.ResourceVersionMatchExact})
	require.NoError(t, err)
	create("a")
	require.Empty(t, plain.linked)
	stop := reads(t, source, s, &corev1.Pod{})
	create("b")
	s.one(t)
	stop()
	create("c")
	require.Empty(t, append(s.take(), plain.take()...))
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

// podText is a pod in JSON.
const podText = `{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"ns","name":"a","uid":"u","resourceVersion":"99999"}}`

// wireOf returns the whole transport of a config, and the URL of pod a.
func wireOf(t testing.TB, config *rest.Config) (http.RoundTripper, string) {
	t.Helper()
	rt, err := rest.TransportFor(config)
	require.NoError(t, err)
	return rt, config.Host + "/api/v1/namespaces/ns/pods/a"
}

// broken is a body that breaks off.
type broken struct {
	io.Reader
	err error
}

func (b broken) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		err = b.err
	}
	return n, err
}

// repeated is a text that comes so many times.
type repeated struct {
	text string
	left int
	rest string // of the text that is being read
}

func (r *repeated) Read(p []byte) (int, error) {
	switch {
	case r.rest != "":
	case r.left == 0:
		return 0, io.EOF
	default:
		r.left, r.rest = r.left-1, r.text
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// The client gets the server's answer, whatever it is, and the sink no more than the answer proves.
func TestAnswersArePassedOnUnchanged(t *testing.T) {
	var next func(*http.Request) (*http.Response, error)
	_, config := inMemory(t)
	answering(config, func(r *http.Request) (*http.Response, error) { return next(r) })
	s := newShown()
	defer reads(t, podSource(typedClient(t, config), ""), s, &corev1.Pod{})()
	rt, url := wireOf(t, config)
	cut := errors.New("cut off")
	long := strings.Repeat("x", 4096)
	for _, row := range []struct {
		name, method, path, body, mediaType, encoding string
		code                                          int
		answer                                        func() io.Reader
		size                                          int64
		want                                          []ownwrites.Kind
		err                                           error
		noGetBody                                     bool
		memory                                        uint64 // that is allocated, if it is much
	}{
		{name: "an object", want: []ownwrites.Kind{ownwrites.Object}},
		{name: "an object of known size", size: int64(len(podText)), want: []ownwrites.Kind{ownwrites.Object}},
		{name: "a wrong size", size: 1 << 50, want: []ownwrites.Kind{ownwrites.Doubt}},
		{name: "no copy of the body", noGetBody: true, body: `{"metadata":{"resourceVersion":"1"}}`, want: []ownwrites.Kind{ownwrites.Object}},
		{name: "no copy of options", noGetBody: true, method: "DELETE", body: "{}", want: []ownwrites.Kind{ownwrites.Doubt}},
		{name: "a condition", body: `{"metadata":{"resourceVersion":"1"}}`, want: []ownwrites.Kind{ownwrites.Object}},
		{name: "broken off", answer: func() io.Reader { return broken{strings.NewReader(podText), cut} }, want: []ownwrites.Kind{ownwrites.Doubt}, err: cut},
		{name: "broken off as net/http says", answer: func() io.Reader { return broken{strings.NewReader(podText), io.ErrUnexpectedEOF} }, want: []ownwrites.Kind{ownwrites.Doubt}, err: io.ErrUnexpectedEOF},
		{name: "large", answer: func() io.Reader { return &repeated{text: long, left: 100 << 20 / len(long)} }, want: []ownwrites.Kind{ownwrites.Doubt}, memory: 128 << 20},
		{name: "large, of known size", size: 100 << 20, answer: func() io.Reader { return &repeated{text: long, left: 100 << 20 / len(long)} }, want: []ownwrites.Kind{ownwrites.Doubt}},
		{name: "compressed", encoding: "gzip", want: []ownwrites.Kind{ownwrites.Doubt}},
		{name: "CBOR", mediaType: "application/cbor", want: []ownwrites.Kind{ownwrites.Doubt}},
		{name: "a page", mediaType: "text/html", answer: func() io.Reader { return strings.NewReader("<html>") }, want: []ownwrites.Kind{ownwrites.Doubt}},
		{name: "a Scale", path: "/scale", answer: func() io.Reader {
			return strings.NewReader(strings.NewReplacer(`"v1"`, `"autoscaling/v1"`, "Pod", "Scale").Replace(podText))
		}, want: []ownwrites.Kind{ownwrites.Object}},
		{name: "metadata", answer: func() io.Reader {
			return strings.NewReader(strings.NewReplacer(`"v1"`, `"meta.k8s.io/v1"`, "Pod", "PartialObjectMetadata").Replace(podText))
		}, want: []ownwrites.Kind{ownwrites.Object}},
		{name: "another kind", answer: func() io.Reader { return strings.NewReader(strings.ReplaceAll(podText, "Pod", "Node")) }, want: []ownwrites.Kind{ownwrites.Object}},
		{name: "fields of wrong types", answer: func() io.Reader { return strings.NewReader(podText[:len(podText)-1] + `,"spec":7}`) }, want: []ownwrites.Kind{ownwrites.Object}},
		{name: "conflict", code: http.StatusConflict},
		{name: "failure", code: http.StatusInternalServerError, want: []ownwrites.Kind{ownwrites.Doubt}},
		{name: "exec", method: "POST", path: "/exec"},
		{name: "eviction", method: "POST", path: "/eviction", code: 201, want: []ownwrites.Kind{ownwrites.Doubt}},
		{name: "relative", path: "/../a"},
		{name: "empty parts", path: "//a"},
		{name: "a name with a slash", path: "%2Fstatus", want: []ownwrites.Kind{ownwrites.Object}},
	} {
		t.Run(row.name, func(t *testing.T) {
			shows := row.answer == nil && len(row.want) > 0 && row.want[0] == ownwrites.Object
			if row.answer == nil {
				row.answer = func() io.Reader { return strings.NewReader(podText) }
			}
			if row.size == 0 {
				row.size = -1
			}
			header := http.Header{"Content-Type": {orElse(row.mediaType, "application/json")}, "X": {"y"}}
			if row.encoding != "" {
				header.Set("Content-Encoding", row.encoding)
			}
			answer := http.Response{StatusCode: max(row.code, 200), Header: header, ContentLength: row.size}
			next = func(r *http.Request) (*http.Response, error) {
				sent, err := io.ReadAll(r.Body)
				require.NoError(t, err)
				require.Equal(t, row.body, string(sent))
				a := answer
				a.Body = io.NopCloser(row.answer())
				return &a, nil
			}
			r, err := http.NewRequestWithContext(t.Context(), orElse(row.method, http.MethodPut), url+row.path, strings.NewReader(row.body))
			require.NoError(t, err)
			if row.noGetBody {
				r.GetBody = nil
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got, err := rt.RoundTrip(r)
			require.NoError(t, err)
			runtime.ReadMemStats(&after)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, max(row.memory, 17<<20))
			require.Equal(t, [3]any{answer.StatusCode, header, row.size}, [3]any{got.StatusCode, got.Header, got.ContentLength})
			same(t, row.answer(), got.Body, row.err)
			require.NoError(t, got.Body.Close())
			answers := s.take()
			require.Equal(t, row.want, kinds(answers))
			if len(answers) > 0 {
				require.Equal(t, shows, answers[0].Object != nil)
				require.Equal(t, shows, answers[0].Scope == ownwrites.Inside)
			}
		})
	}
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// same compares two bodies, and the error of the second.
func same(t *testing.T, want, got io.Reader, failure error) {
	t.Helper()
	a, b := make([]byte, 1<<16), make([]byte, 1<<16)
	for {
		n, err := io.ReadFull(got, b)
		m, _ := io.ReadFull(want, a)
		require.Equal(t, string(a[:m]), string(b[:n]))
		if err != nil {
			if failure == nil || n > 0 && errors.Is(failure, io.ErrUnexpectedEOF) {
				require.True(t, errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF), "%v", err)
			} else {
				require.ErrorIs(t, err, failure)
			}
			return
		}
	}
}

// unsentError is the error of a transport that has sent nothing.
type unsentError struct{ error }

func (unsentError) NotSent() bool { return true }

// Errors are passed on, and leave doubt unless nothing was sent.
func TestErrorsOfWrites(t *testing.T) {
	failure := errors.New("connection reset")
	for _, err := range []error{failure, unsentError{failure}, errors.Join(unsentError{failure})} {
		_, config := inMemory(t)
		own := answering(config, func(*http.Request) (*http.Response, error) { return nil, err })
		s := newShown()
		stop := reads(t, podSource(typedClient(t, config), ""), s, &corev1.Pod{})
		rt, url := wireOf(t, config)
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPut, url, strings.NewReader(`{"metadata":{"resourceVersion":"1"}}`))
		_, got := rt.RoundTrip(r) //nolint:bodyclose // there is none
		require.Equal(t, err, got)
		if err == failure { //nolint:errorlint // the one without a wrapper
			require.Equal(t, []ownwrites.Kind{ownwrites.Doubt}, kinds(s.take()))
		} else {
			require.Empty(t, s.take())
		}
		older, newer := pod("a", "1"), pod("a", "1")
		older.UID, older.ResourceVersion, newer.UID, newer.ResourceVersion = "u", "1", "u", "2"
		require.False(t, own.Made("", older, newer))
		stop()
	}
}

// A transport that returns neither an answer nor an error gives the client's error, and leaves doubt.
func TestTransportsThatReturnNothing(t *testing.T) {
	nothing := func(*http.Request) (*http.Response, error) { return nil, nil } //nolint:nilnil // that is the point
	_, config := inMemory(t)
	answering(config, nothing)
	s, client := newShown(), typedClient(t, config)
	defer reads(t, podSource(client, ""), s, &corev1.Pod{})()
	require.Error(t, client.CoreV1().Pods("ns").Delete(t.Context(), "a", metav1.DeleteOptions{}))
	require.Equal(t, ownwrites.Doubt, s.one(t).Kind)

	_, config = inMemory(t)
	config.Wrap(func(http.RoundTripper) http.RoundTripper { return round(nothing) })
	config.Wrap(reflector.NewOwnWrites().Wire)
	ctx, cancel := context.WithCancel(t.Context())
	var failed error
	observe := func(e reflector.Event) {
		if f, ok := e.(reflector.Failed); ok && failed == nil {
			failed = f.Err
			cancel()
		}
	}
	require.NoError(t, reflector.New(podSource(typedClient(t, config), ""), newShown(), reflector.Options{Observe: observe}).Run(ctx))
	require.Error(t, failed)
	require.NotErrorIs(t, failed, reflector.ErrPanic)
}

// A write is held for at most a second, less if its context ends, and once by a sink that does not return. What a
// sink does is never the caller's error.
func TestSinksThatDoNotReturn(t *testing.T) {
	for name, takes := range map[string]func(chan struct{}){
		"hangs":  func(end chan struct{}) { <-end },
		"panics": func(chan struct{}) { panic("of a sink") },
		"exits":  func(chan struct{}) { runtime.Goexit() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, config := inMemory(t)
				config.Wrap(reflector.NewOwnWrites().Wire)
				client := typedClient(t, config)
				end := make(chan struct{})
				bad, good := newShown(), newShown()
				bad.takes = func(ownwrites.Answer) { takes(end) }
				defer reads(t, podSource(client, ""), bad, &corev1.Pod{})()
				defer reads(t, podSource(client, ""), good, &corev1.Pod{})()
				create := func(ctx context.Context, name string) (held time.Duration) {
					t.Helper()
					since := time.Now()
					p, err := client.CoreV1().Pods("ns").Create(ctx, pod(name, "1"), metav1.CreateOptions{})
					require.NoError(t, err)
					held = time.Since(since)
					require.Equal(t, p.ResourceVersion, good.one(t).Version, "one sink does not concern another")
					return held
				}
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				defer cancel()
				if name != "hangs" {
					require.Zero(t, create(t.Context(), "a"))
					require.Contains(t, kinds(bad.take()), ownwrites.Doubt)
					return
				}
				require.Equal(t, 100*time.Millisecond, create(ctx, "a"))
				require.Len(t, bad.missed, 1)
				require.Zero(t, create(t.Context(), "b"))
				require.Len(t, bad.missed, 2)
				require.Len(t, bad.take(), 1, "it is not asked while it is late")
				close(end)
				synctest.Wait()
				require.Zero(t, create(t.Context(), "c"))
				require.Len(t, bad.take(), 1)
				end = make(chan struct{})
				held := create(t.Context(), "d")
				require.Positive(t, held)
				require.LessOrEqual(t, held, time.Second)
				close(end)
			})
		})
	}
}

// The sources of one informer get an answer one after another, those that read the object first, because it may have
// come from the others. A source of another namespace gets none.
func TestSourcesOfOneInformer(t *testing.T) {
	_, config := inMemory(t)
	config.Wrap(reflector.NewOwnWrites().Wire)
	client := typedClient(t, config)
	var late atomic.Int32
	var mu sync.Mutex
	var told []string
	joined := func(name, selector, namespace string) func() {
		source := podSource(client, namespace)
		source.Tweak = func(o *metav1.ListOptions) { o.LabelSelector = selector }
		s := newShown()
		s.late, s.takes = &late, func(ownwrites.Answer) {
			mu.Lock()
			defer mu.Unlock()

			told = append(told, name)
		}
		return reads(t, source, s, &corev1.Pod{})
	}
	defer joined("one", "n=1", "")()
	defer joined("two", "n=2", "")()
	defer joined("elsewhere", "n=2", "other")()
	p, err := client.CoreV1().Pods("ns").Create(t.Context(), pod("a", "2"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"two", "one"}, told)
	p.Labels["n"] = "1"
	_, err = client.CoreV1().Pods("ns").Update(t.Context(), p, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"two", "one", "one", "two"}, told)
}

// A body that cannot be copied leaves doubt about a deletion, and is sent.
func TestBodiesThatCannotBeCopied(t *testing.T) {
	for name, copies := range map[string]func(chan struct{}) (io.ReadCloser, error){
		"fails":  func(chan struct{}) (io.ReadCloser, error) { return nil, errors.New("used up") },
		"panics": func(chan struct{}) (io.ReadCloser, error) { panic("of a body") },
		"exits":  func(chan struct{}) (io.ReadCloser, error) { runtime.Goexit(); return nil, nil },
		"hangs":  func(end chan struct{}) (io.ReadCloser, error) { <-end; return nil, errors.New("ended") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, config := inMemory(t)
				answering(config, func(r *http.Request) (*http.Response, error) {
					sent, err := io.ReadAll(r.Body)
					require.NoError(t, err)
					require.Equal(t, "{}", string(sent))
					return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(podText))}, nil
				})
				s := newShown()
				defer reads(t, podSource(typedClient(t, config), ""), s, &corev1.Pod{})()
				rt, url := wireOf(t, config)
				r, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, url, strings.NewReader("{}"))
				require.NoError(t, err)
				end := make(chan struct{})
				defer close(end)
				r.GetBody = func() (io.ReadCloser, error) { return copies(end) }
				since := time.Now()
				answer, err := rt.RoundTrip(r)
				require.NoError(t, err)
				require.NoError(t, answer.Body.Close())
				require.LessOrEqual(t, time.Since(since), time.Second)
				a := s.one(t)
				require.Equal(t, ownwrites.Doubt, a.Kind)
				require.EqualValues(t, 7, a.Before.History)
			})
		})
	}
}

// Sixteen writers write the same and other objects while reflectors come and go.
func TestOwnWritesOfManyGoroutines(t *testing.T) {
	_, config := inMemory(t)
	own := reflector.NewOwnWrites()
	config.Wrap(own.Wire)
	client := typedClient(t, config)
	s := newShown()
	defer reads(t, podSource(client, ""), s, &corev1.Pod{})()
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			ctx, pods := reflector.WithWriter(t.Context(), strconv.Itoa(i)), client.CoreV1().Pods("ns")
			p, err := pods.Create(ctx, pod("own"+strconv.Itoa(i), "1"), metav1.CreateOptions{})
			for range 20 {
				if err != nil {
					break
				}
				before := p.DeepCopy()
				p.Labels["n"] += "x"
				if p, err = pods.Update(ctx, p, metav1.UpdateOptions{}); err == nil && !own.Made(strconv.Itoa(i), before, p) {
					err = errors.New("not its own update")
				}
			}
			if err != nil {
				t.Error(err)
			}
		})
		all.Go(func() { reads(t, podSource(client, "ns"), newShown(), &corev1.Pod{})() })
	}
	all.Wait()
	objects := map[string]bool{}
	for _, a := range s.take() {
		if a.Kind == ownwrites.Object {
			require.NotNil(t, a.Object)
			objects[a.Version] = true
		}
	}
	require.Len(t, objects, 16*21)
}

// BenchmarkOwnWrite writes an object of 10 kB: without the transport, of a kind that nobody reads, and of
// one that a reflector reads.
func BenchmarkOwnWrite(b *testing.B) {
	defer func(on bool) { verify.On = on }(verify.On)
	verify.On = false // as in a program
	text := podText[:len(podText)-1] + `,"spec":{"containers":[` + strings.TrimSuffix(strings.Repeat(`{"name":"c","image":"registry.example.com/some/image:v1","env":[{"name":"A","value":"b"}]},`, 110), ",") + `]}}`
	for _, row := range []struct{ name, path string }{{"plain", ""}, {"other kind", "configmaps/a"}, {"read", "pods/a"}} {
		b.Run(row.name, func(b *testing.B) {
			_, config := inMemory(b)
			write := func(r *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: int64(len(text)), Body: io.NopCloser(strings.NewReader(text))}, nil
			}
			answering(config, write)
			defer reads(b, podSource(typedClient(b, config), ""), newShown(), &corev1.Pod{})()
			rt, _ := wireOf(b, config)
			if row.path == "" {
				rt = round(write)
			}
			request, err := http.NewRequestWithContext(b.Context(), http.MethodPut, config.Host+"/api/v1/namespaces/ns/"+orElse(row.path, "pods/a"), strings.NewReader(text))
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				answer, err := rt.RoundTrip(request)
				if err != nil {
					b.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, answer.Body)
				_ = answer.Body.Close()
			}
		})
	}
}
