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

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/internal/keeper"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

var (
	podGVR    = corev1.SchemeGroupVersion.WithResource("pods")
	typeOfPod = reflect.TypeFor[*corev1.Pod]()
)

// scripted is a server that answers lists and watches of pods with given bodies, one after the
// other. After the last body, watches stay open and lists hang.
type scripted struct {
	mu           sync.Mutex
	lists, event []string
	asked        []string // the queries of the lists
}

func (s *scripted) next(of *[]string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if len(*of) == 0 {
		return "", false
	}
	body := (*of)[0]
	*of = (*of)[1:]
	return body, true
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	bodies := &s.lists
	if q.Get("watch") != "" {
		bodies = &s.event
	} else {
		s.mu.Lock()
		s.asked = append(s.asked, fmt.Sprintf("version %q limit %q", q.Get("resourceVersion"), q.Get("limit")))
		s.mu.Unlock()
	}
	w.Header().Set("Content-Type", "application/json")
	body, ok := s.next(bodies)
	body, cut := strings.CutSuffix(body, "CUT")
	if cut { // the announced length is longer than the body
		w.Header().Set("Content-Length", fmt.Sprint(len(body)+100))
	}
	_, _ = io.WriteString(w, body)
	if q.Get("watch") != "" || !ok {
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
}

// serve starts the server and returns a source of its pods that cannot stream.
func (s *scripted) serve(t *testing.T) Source {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	require.NoError(t, err)
	source := FromGenerated[*corev1.Pod](client.CoreV1().Pods(""), podGVR)
	require.Equal(t, typeOfPod, decodes(source))
	source.Tweak = func(*metav1.ListOptions) {}
	return source
}

// decodes returns the type of the objects that the reflector decodes itself, or nil.
func decodes(source Source) reflect.Type {
	if source.Send == nil {
		return nil
	}
	return source.Send.objects.Type
}

func podList(version string, items ...string) string {
	return fmt.Sprintf(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":%q},"items":[%s]}`, version, strings.Join(items, ","))
}

func podText(name, version, spec string) string {
	return fmt.Sprintf(`{"metadata":{"namespace":"ns","name":%q,"uid":"u-%s","resourceVersion":%q},"spec":{%s}}`, name, name, version, spec)
}

func podEvent(kind, pod string) string {
	return fmt.Sprintf(`{"type":%q,"object":{"kind":"Pod","apiVersion":"v1",%s}`, kind, pod[1:])
}

// taking is a sink that passes its deltas on.
type taking struct {
	keeper.Sink // no other method is called
	deltas      chan deltafifo.Delta
	marks       chan string
	known       map[object.Identity]*corev1.Pod
}

func newTaking() *taking {
	return &taking{deltas: make(chan deltafifo.Delta, 1000), marks: make(chan string, 1000)}
}

func (s *taking) Begin(context.Context, History) error {
	s.marks <- "begin"
	return nil
}

func (s *taking) Commit(context.Context, string) error {
	s.marks <- "commit"
	return nil
}

func (s *taking) Abort(context.Context) error {
	s.marks <- "abort"
	return nil
}

func (s *taking) Write(_ context.Context, batch []deltafifo.Delta) error {
	for _, d := range batch {
		s.deltas <- d
	}
	return nil
}

func (s *taking) Recall(id object.Identity) (any, bool) {
	p, ok := s.known[id]
	return p, ok
}

func (*taking) Reuse([]deltafifo.Delta) {}

func (*taking) Connect(keeper.Reflector) keeper.Form { return keeper.Form{} }

// reflectInto runs a reflector of lists until the test ends.
func reflectInto(t *testing.T, source Source, sink Sink, o Options) (events chan Event) {
	t.Helper()
	return reflectTo(t, source, sink, ofType[*corev1.Pod](o))
}

func reflectTo(t *testing.T, source Source, sink Sink, o Options) (events chan Event) {
	t.Helper()
	t.Setenv("KUBE_FEATURE_WatchListClient", "false")
	events = make(chan Event, 1000)
	o.Observe = func(e Event) { events <- e }
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- New(neverStreaming(source), sink, o).Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	return events
}

const badSpec = `"containers":[{"name":"c","resources":{"limits":{"cpu":"no quantity"}}}]`
