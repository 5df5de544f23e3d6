package faults

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// heapProbe measures the live heap time and again: in the goroutine that reads
// the answer, and in the one that writes the store, which wait for it.
type heapProbe struct {
	next http.RoundTripper
	// bytes and objects are how many of them lie between two measurements.
	bytes, objects int

	mu            sync.Mutex
	read, written int
	taken, peak   int
}

func (p *heapProbe) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := p.next.RoundTrip(r)
	if err == nil && !r.URL.Query().Has("watch") {
		answer.Body = &probed{answer.Body, p}
	}
	return answer, err
}

// WrappedRoundTripper lets idle connections be closed.
func (p *heapProbe) WrappedRoundTripper() http.RoundTripper { return p.next }

// probed is the body of a list.
type probed struct {
	io.ReadCloser
	probe *heapProbe
}

func (b *probed) Read(to []byte) (int, error) {
	n, err := b.ReadCloser.Read(to)
	p := b.probe
	p.mu.Lock()
	defer p.mu.Unlock()

	before := p.read
	p.read += n
	p.measure(before/p.bytes < p.read/p.bytes)
	return n, err
}

// index is an index function without values, which the store calls for every object.
func (p *heapProbe) index(values []string, _ *corev1.ConfigMap) []string {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.written++
	p.measure(p.written%p.objects == 0)
	return values
}

func (p *heapProbe) measure(due bool) {
	if due {
		p.taken++
		p.peak = max(p.peak, liveHeap())
	}
}

// liveHeap is what the collector leaves.
func liveHeap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc) //nolint:gosec // a few gigabytes
}

// createSmall creates configmaps that have nothing in common: some 600 bytes each.
func (s *scenario) createSmall(n int) {
	s.t.Helper()
	s.must(harness.Each(s.ctx, harness.Creators, n, func(ctx context.Context, i int) error {
		noise := make([]byte, 200)
		_, _ = rand.NewChaCha8([32]byte{byte(i), byte(i >> 8), byte(i >> 16)}).Read(noise) // it never fails
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: configMapName(i)}, Data: map[string]string{"key": hex.EncodeToString(noise)}}
		_, err := s.admin.CoreV1().ConfigMaps("default").Create(ctx, cm, metav1.CreateOptions{})
		return err
	}))
}

// probed is a mirror of all configmaps of the default namespace, by a generated
// client, whose probe measures.
func (s *scenario) probed(p *heapProbe) *mirror[*corev1.ConfigMap] {
	m := newMirror[*corev1.ConfigMap](s)
	m.indexes = []indexer.Index[*corev1.ConfigMap]{{Name: "probe", Append: p.index}}
	m.list = func(ctx context.Context) ([]*corev1.ConfigMap, error) {
		list, err := s.admin.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
		return pointers(list.Items), err
	}
	config := s.cluster.Config()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		p.next = next
		return p
	})
	client := kubernetes.NewForConfigOrDie(m.counting(config)).CoreV1().ConfigMaps("default")
	source := reflector.FromGenerated[*corev1.ConfigMap](client, corev1.SchemeGroupVersion.WithResource("configmaps"))
	m.informer = informer.New[*corev1.ConfigMap](source, m.options())
	return m
}

// With one processor reading and decoding take turns, and the list is stored as
// it arrives: at no time is there much more than what is there in the end.
func TestScenario_ManyObjectsOneProcessor(t *testing.T) {
	s := begin(t, harness.Options{Flags: []string{"--feature-gates=WatchList=false"}})
	n := size(10_000, 100_000)
	s.createSmall(n)
	before := runtime.GOMAXPROCS(1)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })

	probe := &heapProbe{bytes: size(256<<10, 4<<20), objects: n / 20}
	m := s.probed(probe)
	empty := liveHeap()
	s.heal()
	m.run()
	m.watching()
	final, peak := liveHeap()-empty, probe.peak-empty

	const mb = 1 << 20
	s.note = fmt.Sprintf("%d objects in %.1f MB; while %.1f MB of a list arrived the heap had at most %.1f MB",
		n, float64(final)/mb, float64(probe.read)/mb, float64(peak)/mb)
	require.Greater(t, probe.taken, 30)
	require.Equal(t, "1+1+1", m.requests.String(), "a stream that is refused, a list, a watch")
	require.Less(t, peak, final+final/10+mb, s.note)
	m.handle(newView[*corev1.ConfigMap]("every"), informer.HandlerOptions{})
	m.settle()
}
