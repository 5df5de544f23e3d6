package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// BenchmarkEventFenced measures one MODIFIED event from the bytes of the watch to the handler, while the
// watch has not sent some of the program's own writes yet.
func BenchmarkEventFenced(b *testing.B) {
	pods := newPodServer(b, podList(perGroup), podEvents(perGroup))
	for _, fences := range []int{0, 1000} {
		byEach(b, fmt.Sprint(fences), []string{typed}, func(b *testing.B, _ string) { pods.deliver(b, fences) })
	}
}

// podServer is a server of pods in JSON. Its watch sends the events of a benchmark, but no event for a
// pod that a client creates.
type podServer struct {
	list   []byte
	events [][]byte
}

func newPodServer(b *testing.B, list *corev1.PodList, events []watch.Event) *podServer {
	list.Kind, list.APIVersion = "PodList", "v1"
	s := &podServer{list: inJSON(b, list)}
	for _, e := range events {
		pod := *e.Object.(*corev1.Pod)
		pod.Kind, pod.APIVersion = "Pod", "v1"
		s.events = append(s.events, inJSON(b, metav1.WatchEvent{Type: string(e.Type), Object: runtime.RawExtension{Raw: inJSON(b, &pod)}}))
	}
	return s
}

func inJSON(b *testing.B, v any) []byte {
	data, err := json.Marshal(v)
	require.NoError(b, err)
	return data
}

// deliver measures b.N events, with some writes pending.
func (s *podServer) deliver(b *testing.B, fences int) {
	at := &playing{podServer: s, begun: make(chan struct{})}
	config := &rest.Config{Host: "http://bench.invalid", Transport: at, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON}}
	config.Wrap(reflector.NewOwnWrites().Wire)
	client, err := kubernetes.NewForConfig(config)
	require.NoError(b, err)
	source := reflector.FromGenerated[*corev1.Pod](client.CoreV1().Pods(""), corev1.SchemeGroupVersion.WithResource("pods"))
	i := informer.New(source, informer.Options[*corev1.Pod]{})
	r := start(b, own[*corev1.Pod]{i}, newCounter(tally{adds: perGroup + fences, updates: b.N}))
	require.NoError(b, i.WaitSynced(b.Context()))
	for n := range fences {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("own-", n), Namespace: "team-000"}}
		_, err := client.CoreV1().Pods(pod.Namespace).Create(b.Context(), pod, metav1.CreateOptions{})
		require.NoError(b, err)
	}
	r.awaitAdds()
	require.Equal(b, fences, i.Status().OwnWrites.Pending)
	at.left = b.N
	measure(b, func() {
		close(at.begun)
		r.awaitUpdates()
	})
	require.Equal(b, fences, i.Status().OwnWrites.Pending)
	r.stop()
}

// playing is the transport to a podServer for one run of a benchmark.
type playing struct {
	*podServer
	begun chan struct{}
	left  int // the number of events left, once they have begun

	mu   sync.Mutex
	made int
}

func (p *playing) RoundTrip(r *http.Request) (*http.Response, error) {
	code, body := http.StatusOK, io.NopCloser(bytes.NewReader(p.list))
	switch {
	case r.Method == http.MethodPost:
		created, err := p.create(r.Body)
		if err != nil {
			return nil, err
		}
		code, body = http.StatusCreated, io.NopCloser(bytes.NewReader(created))
	case r.URL.Query().Get("sendInitialEvents") != "":
		code = http.StatusUnprocessableEntity
	case r.URL.Query().Get("watch") != "":
		body = &playedEvents{playing: p, ctx: r.Context()}
	}
	return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {runtime.ContentTypeJSON}}, Body: body, ContentLength: -1, Request: r}, nil
}

// create returns the created pod with a version far after those of the events.
func (p *playing) create(body io.Reader) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.made++
	pod := &corev1.Pod{}
	if err := json.NewDecoder(body).Decode(pod); err != nil {
		return nil, err
	}
	pod.Kind, pod.APIVersion = "Pod", "v1"
	pod.UID, pod.ResourceVersion = types.UID(fmt.Sprint("own-", p.made)), version(800_000_000+p.made)
	return json.Marshal(pod)
}

// playedEvents is the body of a watch.
type playedEvents struct {
	*playing
	ctx  context.Context
	next int    // the index of the next event
	rest []byte // the rest of the previous event
}

func (e *playedEvents) Read(into []byte) (n int, err error) {
	select {
	case <-e.begun:
	case <-e.ctx.Done():
		return 0, e.ctx.Err()
	}
	for n < len(into) {
		if len(e.rest) == 0 {
			if e.left == 0 {
				break
			}
			e.rest, e.next, e.left = e.events[e.next], (e.next+1)%len(e.events), e.left-1
		}
		m := copy(into[n:], e.rest)
		n, e.rest = n+m, e.rest[m:]
	}
	if n == 0 {
		<-e.ctx.Done()
		return 0, e.ctx.Err()
	}
	return n, nil
}

func (*playedEvents) Close() error { return nil }
