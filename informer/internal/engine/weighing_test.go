package engine_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/tier"
)

// heavyPod returns a pod that shares no memory with other pods.
func heavyPod(n int) *corev1.Pod {
	own := func(s string) string { return strings.Clone(fmt.Sprint(s, n)) }
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: fmt.Sprint("namespace-", n%5), Name: own("a-pod-with-a-name-"), ResourceVersion: fmt.Sprint(n + 1),
			Labels: map[string]string{own("app"): own("value-")},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: own("main"), Image: own("registry.example/image:")}}},
	}
}

// heavyPods returns deltas that add n heavy pods.
func heavyPods(n int) (changes []deltafifo.Delta) {
	for n := range n {
		changes = append(changes, deltaOf(deltafifo.Added, heavyPod(n)))
	}
	return changes
}

// The memory that an informer reports is about the growth of the heap.
func TestMemoryIsThatOfTheHeap(t *testing.T) {
	tier.SkipRaced(t)
	const pods = 20000
	byImage := indexer.Index[*corev1.Pod]{Name: "image", Append: func(values []string, p *corev1.Pod) []string {
		return append(values, p.Spec.Containers[0].Image)
	}}
	f := newTestCore(t, informer.Options[*corev1.Pod]{Indexes: []indexer.Index[*corev1.Pod]{byImage}}, 1)
	f.list("1", heavyPod(-1))
	m := f.Inspect()
	before := heapInUse()
	f.apply(heavyPods(pods)...) // in one write section, because verify mode checks each
	grown := heapInUse() - before

	for m.Weight.Last().At.IsZero() {
		f.Weigh(m)
	}
	recorded := m.Weight.Last()
	t.Logf("objects %d, engine %d: %d of %d on the heap", recorded.Objects, recorded.Engine, recorded.Objects+recorded.Engine, grown)
	require.InEpsilon(t, grown, recorded.Objects+recorded.Engine, 0.15)
	require.NotZero(t, recorded.Engine)
	runtime.KeepAlive(f)
}

func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc) //nolint:gosec // fits
}

// The memory of an informer is measured once a minute while it is inspected.
func TestMemoryIsWeighedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
		f.list("1", heavyPod(1), heavyPod(2))
		f.start()
		inspector := f.Inspector()
		require.Zero(t, inspector.Memory())
		pass(1500 * time.Millisecond)
		first := inspector.Memory()
		require.Positive(t, first.Objects)
		require.Positive(t, first.Engine)
		pass(30 * time.Second)
		require.Equal(t, first, inspector.Memory())
		pass(31 * time.Second)
		require.Equal(t, first.At.Add(time.Minute), inspector.Memory().At)
	})
}
