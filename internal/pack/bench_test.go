package pack

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit/cluster"
)

// cached is the number of objects that a benchmark keeps, as a cache does.
const cached = 100_000

// workloads returns the pods of workloads with so many each.
func workloads(each int) func(i int) *corev1.Pod {
	return func(i int) *corev1.Pod { return kit.RunningPod(fmt.Sprintf("%05d", i/each), i) }
}

// BenchmarkPack packs pods in the order of a list, in which families come one after another, and
// measures them: the bytes of a pod, packed and on the heap, with its part of what all have in
// common. An operation is then one pod of a random family, as a watch brings it, packed in "pack" and
// undone in "undo".
func BenchmarkPack(b *testing.B) {
	pods := cluster.New(1, cached)
	for _, c := range []struct {
		name string
		pod  func(i int) *corev1.Pod
	}{
		{"cluster", pods.Pod},
		{"100-a-family", workloads(100)},
		{"5-a-family", workloads(5)},
		{"1-a-family", workloads(1)},
		{"nothing-in-common", pods.Unique},
	} {
		b.Run(c.name, func(b *testing.B) { benchmark(b, c.pod) })
	}
}

func benchmark(b *testing.B, pod func(i int) *corev1.Pod) {
	order := listed(pod)
	k, packed := newTexts(), make([]*Object, cached)
	var sample []encoded // each seventh, for packing again
	var size, plain int64
	var packing, undoing time.Duration
	before := heap()
	for from := 0; from < cached; from += 1000 {
		chunk := make([]encoded, 1000)
		for i := range chunk {
			chunk[i] = encode(b, pod(order[from+i]))
		}
		began := processor()
		for i, e := range chunk {
			packed[from+i], _ = k.Pack(e.namespace, e.name, e.data, Event)
		}
		packing += processor() - began
		for i, e := range chunk {
			size, plain = size+packed[from+i].Size(), plain+int64(len(e.data))
		}
		_ = sample
	}
	onHeap := heap() - before
	var buffer []byte
	var spare openBase
	began := processor()
	for _, o := range packed {
		buffer, _ = o.undo(buffer[:0], &spare)
	}
	undoing = processor() - began
	for i := 0; i < cached; i += 101 {
		sample = append(sample, encode(b, pod(order[i])))
	}
	list := func(b *testing.B) {
		b.ReportMetric(float64(plain)/cached, "plain-B/pod")
		b.ReportMetric(float64(size+k.Size())/cached, "packed-B/pod")
		b.ReportMetric(float64(onHeap)/cached, "heap-B/pod")
	}

	b.Run("pack", func(b *testing.B) {
		b.ReportAllocs()
		began := processor()
		for i := range b.N {
			e := sample[i*7919%len(sample)]
			_, _ = k.Pack(e.namespace, e.name, e.data, Event)
		}
		b.ReportMetric(float64(processor()-began)/float64(b.N), "cpu-ns/op")
		b.ReportMetric(float64(packing)/cached, "list-cpu-ns/pod")
		list(b)
	})
	b.Run("undo", func(b *testing.B) {
		b.ReportAllocs()
		began := processor()
		for i := range b.N {
			buffer, _ = packed[i*7919%cached].undo(buffer[:0], &spare)
		}
		b.ReportMetric(float64(processor()-began)/float64(b.N), "cpu-ns/op")
		b.ReportMetric(float64(undoing)/cached, "list-cpu-ns/pod")
	})
}

// encoded is what arrives of an object.
type encoded struct {
	namespace, name string
	data            []byte
}

func encode(tb testing.TB, p *corev1.Pod) encoded {
	data, err := p.Marshal()
	require.NoError(tb, err)
	return encoded{p.Namespace, p.Name, data}
}

// listed returns the numbers of the pods in the order of a list: by namespace and name.
func listed(pod func(i int) *corev1.Pod) []int {
	keys := make([]string, cached)
	order := make([]int, cached)
	for i := range order {
		p := pod(i)
		keys[i], order[i] = p.Namespace+"/"+p.Name, i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(strings.Compare(keys[a], keys[b]), cmp.Compare(a, b)) })
	return order
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// processor returns the processor time of this process, garbage collection included.
func processor() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
