package faults

import (
	"context"
	"encoding/hex"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/metrics"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// highest collects garbage time and again until done is closed, and returns how
// much the heap has had at most of what is not garbage, and how often it looked.
func highest(done <-chan struct{}) (most, times int) {
	for {
		select {
		case <-done:
			return most, times
		default:
			most, times = max(most, liveHeap()), times+1
		}
	}
}

// liveHeap is what the collector leaves.
func liveHeap() int {
	runtime.GC()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return int(live[0].Value.Uint64()) //nolint:gosec // a few gigabytes
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

// smallMaps is a mirror of all configmaps of the default namespace, by a generated client.
func (s *scenario) smallMaps() *mirror[*corev1.ConfigMap] {
	m := newMirror[*corev1.ConfigMap](s)
	m.list = func(ctx context.Context) ([]*corev1.ConfigMap, error) {
		list, err := s.admin.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
		return pointers(list.Items), err
	}
	client := kubernetes.NewForConfigOrDie(m.counting(s.cluster.Config())).CoreV1().ConfigMaps("default")
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

	m := s.smallMaps()
	empty := liveHeap()
	s.heal()
	m.run()
	most, times := highest(m.informer.Synced())
	m.watching()
	final, peak := liveHeap()-empty, most-empty

	const mb = 1 << 20
	s.note = fmt.Sprintf("%d objects in %.1f MB; while the list arrived, at most %.1f MB", n, float64(final)/mb, float64(peak)/mb)
	require.NotZero(t, times)
	require.Equal(t, "1+1+1", m.requests.String(), "a stream that is refused, a list, a watch")
	// The heap is the process's: it tells nothing while other scenarios run beside
	// this one, or while shared values are watched, each of which takes memory then.
	if flag.Lookup("test.parallel").Value.String() == "1" && os.Getenv("TIDEMARK_VERIFY") == "" {
		require.Greater(t, times, 10)
		require.Less(t, peak, final+final/10+mb, s.note)
	}
	m.handle(newView[*corev1.ConfigMap]("every"), informer.HandlerOptions{})
	m.settle()
}
