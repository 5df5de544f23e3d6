package informertest

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/chance"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// An informer survives all answers of a server, and mirrors the server once the answers are valid again.
func FuzzAnswers(f *testing.F) {
	chance.Fuzz(f, func(t *testing.T, more func() bool, r *rand.Rand) {
		inBubble(t, Options{NoWatchList: r.IntN(2) == 0, BookmarkInterval: 10 * time.Minute}, func(t *testing.T, s *Server) {
			for _, name := range []string{"p", "q", "r"} {
				require.NoError(t, s.Create(t.Context(), newPod("a", name)))
			}
			require.NoError(t, s.StartInMemory())
			c := s.ClientConfig()
			c.Wrap(func(next http.RoundTripper) http.RoundTripper { return &junkServer{junk: junk{r, more}, next: next} })
			switch r.IntN(3) {
			case 0:
				expectConvergence(t, s, reflector.From(newClient(t, c).CoreV1().Pods("")), informer.Options[*corev1.Pod]{})
			case 1:
				client, err := dynamic.NewForConfig(c)
				require.NoError(t, err)
				expectConvergence(t, s, reflector.From(client.Resource(pods)), informer.Options[*unstructured.Unstructured]{})
			case 2:
				client, err := metadata.NewForConfig(c)
				require.NoError(t, err)
				expectConvergence(t, s, reflector.From(client.Resource(pods)), informer.Options[*metav1.PartialObjectMetadata]{})
			}
		})
	})
}

// expectConvergence runs an informer for an hour. At the end, its store and its handler's objects must equal
// the server's.
func expectConvergence[T informer.Object](t *testing.T, s *Server, source reflector.Source, o informer.Options[T]) {
	var trouble []string
	o.Observe = func(e informer.Event) {
		if failed, ok := e.(reflector.Failed); ok {
			trouble = append(trouble, failed.Err.Error())
		}
	}
	i, recorded := informer.New(source, o), map[string]string{}
	_, err := i.Handle(informer.HandlerFunc[T](func(c informer.Change[T]) {
		if c.Kind == informer.Deleted {
			delete(recorded, pathOf(c.Old.GetNamespace(), c.Old.GetName()))
			return
		}
		recorded[pathOf(c.New.GetNamespace(), c.New.GetName())] = c.New.GetResourceVersion()
	}), informer.HandlerOptions{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	wait, err := i.Start(ctx)
	require.NoError(t, err)
	time.Sleep(time.Hour)
	require.NoError(t, s.Update(t.Context(), newPod("a", "p", "x", "y")))
	require.NoError(t, s.Delete(t.Context(), newPod("a", "q")))
	time.Sleep(time.Hour)
	cancel()
	require.NoError(t, wait())

	want := map[string]string{"a/p": "5", "a/r": "4"}
	got := map[string]string{}
	for obj := range i.Indexer().All() {
		got[pathOf(obj.GetNamespace(), obj.GetName())] = obj.GetResourceVersion()
	}
	require.Equal(t, want, got, "%q", trouble)
	require.Equal(t, want, recorded, "the events of the handler")
}

// junkServer answers with junk as long as it has junk. Then it expires the client's version, and passes
// requests to the server.
type junkServer struct {
	junk   junk
	next   http.RoundTripper
	junked atomic.Int32
	sane   atomic.Bool
}

func (m *junkServer) RoundTrip(request *http.Request) (*http.Response, error) {
	query := request.URL.Query()
	watch := query.Get("watch") != ""
	if !m.sane.Load() && m.junk.more() && m.junked.Add(1) < 20 {
		return m.junk.answer(request, watch)
	}
	if watch && query.Get("sendInitialEvents") == "" && !m.sane.Load() {
		m.sane.Store(true)
		return respond(request, http.StatusOK, http.Header{"Content-Type": {"application/json"}},
			io.NopCloser(strings.NewReader(`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}}`+"\n"))), nil
	}
	return m.next.RoundTrip(request)
}

func respond(request *http.Request, code int, header http.Header, body io.ReadCloser) *http.Response {
	return &http.Response{
		Status: http.StatusText(code), StatusCode: code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: body, ContentLength: -1, Request: request,
	}
}

// junk makes random answers: valid ones, nearly valid ones, and nonsense.
type junk struct {
	*rand.Rand
	more func() bool
}

func (j junk) pick(from ...string) string { return from[j.IntN(len(from))] }

func (j junk) answer(request *http.Request, watch bool) (*http.Response, error) {
	if j.IntN(16) == 0 {
		return nil, fmt.Errorf("%w: junk", io.ErrUnexpectedEOF)
	}
	code := http.StatusOK
	if j.IntN(3) == 0 {
		code = []int{0, 100, 204, 301, 400, 403, 404, 410, 422, 429, 500, 503, 504, 999}[j.IntN(14)]
	}
	header := http.Header{"Content-Type": {"application/json"}}
	if j.IntN(8) == 0 {
		header.Set("Content-Type", j.pick("", "text/html", "application/vnd.kubernetes.protobuf", "application/json;stream=watch", "application/cbor", "\x00"))
	}
	if j.IntN(8) == 0 {
		header.Set("Retry-After", j.pick("0", "1", "-1", "x", "99999999999999999999"))
	}
	body := &junkBody{text: strings.NewReader(j.body(watch)), closed: make(chan struct{}), ctx: request.Context(), hangs: watch && j.IntN(4) == 0}
	return respond(request, code, header, body), nil
}

// junkBody ends, or hangs until it is closed.
type junkBody struct {
	text   *strings.Reader
	closed chan struct{}
	once   atomic.Bool
	ctx    context.Context
	hangs  bool
}

func (b *junkBody) Read(p []byte) (int, error) {
	n, err := b.text.Read(p)
	if err == nil || !b.hangs {
		return n, err
	}
	select {
	case <-b.closed:
	case <-b.ctx.Done():
	}
	return 0, io.ErrClosedPipe
}

func (b *junkBody) Close() error {
	if b.once.CompareAndSwap(false, true) {
		close(b.closed)
	}
	return nil
}

func (j junk) body(watch bool) string {
	var text string
	switch n := j.IntN(8); {
	case n == 0:
		text = j.value(0)
	case watch && n < 7, n == 1:
		for range 1 + j.IntN(4) {
			text += j.event() + "\n"
		}
	default:
		text = j.list()
	}
	if j.IntN(8) == 0 {
		text = text[:j.IntN(len(text)+1)]
	}
	return text
}

func (j junk) list() string {
	items := make([]string, j.IntN(4))
	for i := range items {
		items[i] = j.object()
	}
	metadata := j.fields("resourceVersion", j.version(), "continue", j.pick(`""`, `""`, `""`, `"x"`), "remainingItemCount", j.pick("0", "-1", "7"))
	return j.fields("kind", j.kind("List"), "apiVersion", j.group(), "metadata", metadata, "items", "["+strings.Join(items, ",")+"]")
}

func (j junk) object() string {
	metadata := j.fields("namespace", j.pick(`"a"`, `"b"`, `""`), "name", j.pick(`"p"`, `"q"`, `"r"`, `"z"`, `""`, `"a/b"`), "resourceVersion", j.version(),
		"uid", j.pick(`"1"`, `"2"`, `""`), "annotations", j.pick(`{}`, `{"k8s.io/initial-events-end":"true"}`), "labels", j.pick(`{}`, `null`, `{"x":"y"}`, `{"x":null}`))
	return j.fields("kind", j.kind(""), "apiVersion", j.group(), "metadata", metadata, "spec", j.pick("{}", `{"containers":[null]}`), "status", j.pick("{}", `"Failure"`), "code", j.pick("410", "0"))
}

func (j junk) event() string {
	return j.fields("type", j.pick(`"ADDED"`, `"ADDED"`, `"MODIFIED"`, `"DELETED"`, `"BOOKMARK"`, `"ERROR"`, `""`, `"added"`), "object", j.object())
}

func (j junk) kind(suffix string) string {
	return `"` + j.pick("Pod", "Pod", "Pod", "Pod", "PartialObjectMetadata", "Status", "Table", "Node", "") + suffix + `"`
}

func (j junk) group() string { return j.pick(`"v1"`, `"v1"`, `"v1"`, `"meta.k8s.io/v1"`, `""`) }

func (j junk) version() string {
	return j.pick(`"1"`, `"3"`, `"5"`, `"99"`, `"0"`, `""`, `"x"`, `"-1"`, `"18446744073709551616"`, `"007"`)
}

// fields makes the fields of an object. Some may be missing, and some may have arbitrary values.
func (j junk) fields(pairs ...string) string {
	var spelled []string
	for i := 0; i < len(pairs); i += 2 {
		value := pairs[i+1]
		switch j.IntN(16) {
		case 0:
			continue
		case 1:
			value = j.value(0)
		}
		spelled = append(spelled, fmt.Sprintf("%q:%s", pairs[i], value))
	}
	return "{" + strings.Join(spelled, ",") + "}"
}

// value makes a JSON value, or a nearly valid one.
func (j junk) value(depth int) string {
	n := j.IntN(10)
	if depth > 3 {
		n = j.IntN(8)
	}
	switch n {
	case 8:
		return "[" + j.value(depth+1) + "," + j.value(depth+1) + "]"
	case 9:
		return `{"` + j.pick("metadata", "items", "kind", "x") + `":` + j.value(depth+1) + "}"
	default:
		return []string{"null", "true", "0", "-1e999", "1.5", `"\u0000"`, "\xff", strings.Repeat("[", 100)}[n]
	}
}
