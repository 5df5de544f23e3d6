package pack

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/internal/process"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit/cluster"
)

// cached is the number of objects that a benchmark keeps.
const cached = 100_000

// workloads returns the pods of workloads that have a number of pods each.
func workloads(each int) func(i int) *corev1.Pod {
	return func(i int) *corev1.Pod { return kit.RunningPod(fmt.Sprintf("%05d", i/each), i) }
}

// BenchmarkPack packs pods in the order of a list, where the pods of a family are neighbors, and then unpacks them.
// It reports, for each pod, the CPU time (list-cpu-ns), the packed bytes, and the bytes on the heap with a share of
// what all pods have in common. An operation packs or unpacks a pod of a random family, like a watch event or a read.
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
	k, packed := newTexts(), make([]*Object, cached)
	var again []encoded // about one in a hundred, of all families
	var plain, size int64
	var packing time.Duration
	before := process.Heap()
	order := listed(pod)
	for from := 0; from < cached; from += 1000 {
		chunk := make([]encoded, 1000)
		for i := range chunk {
			chunk[i] = encode(b, pod(order[from+i]))
		}
		began := process.CPU()
		for i, e := range chunk {
			packed[from+i], _ = k.Pack(e.namespace, e.name, e.data, Event)
		}
		packing += process.CPU() - began
		for i, e := range chunk {
			plain, size = plain+int64(len(e.data)), size+packed[from+i].Size()
		}
	}
	onHeap := process.Heap() - before
	for i := 0; i < cached; i += 101 {
		again = append(again, encode(b, pod(i)))
	}
	var buffer []byte
	var spare baseData
	unpack := func(i int) { buffer, _ = packed[i].unpack(buffer[:0], &spare) }
	began := process.CPU()
	for i := range packed {
		unpack(i)
	}
	unpacking := process.CPU() - began

	b.Run("pack", func(b *testing.B) {
		each(b, func(i int) {
			e := again[i%len(again)]
			_, _ = k.Pack(e.namespace, e.name, e.data, Event)
		})
		b.ReportMetric(float64(packing)/cached, "list-cpu-ns/pod")
		b.ReportMetric(float64(plain)/cached, "plain-B/pod")
		b.ReportMetric(float64(size)/cached, "packed-B/pod")
		b.ReportMetric(float64(onHeap)/cached, "heap-B/pod")
		b.ReportMetric(float64(plain)/float64(onHeap), "times-smaller")
	})
	b.Run("unpack", func(b *testing.B) {
		each(b, func(i int) { unpack(i % cached) })
		b.ReportMetric(float64(unpacking)/cached, "list-cpu-ns/pod")
	})
}

// BenchmarkRead decodes pods in the order of a list: plain bytes, cold objects and hot objects.
func BenchmarkRead(b *testing.B) {
	const pods = 2000
	o := Options{
		Type: reflect.TypeFor[*corev1.Pod](), Budget: NewBudget(math.MaxInt64), Weigh: func(any) int64 { return 1 },
		Decode: func(data []byte, _ Form) (any, error) {
			p := new(corev1.Pod)
			err := p.Unmarshal(data)
			return p, err
		},
	}
	k := NewKind(o)
	plain, packed := make([]encoded, pods), make([]*Object, pods)
	for i := range plain {
		plain[i] = encode(b, workloads(100)(i))
		packed[i], _ = k.Pack(plain[i].namespace, plain[i].name, plain[i].data, Event)
	}
	b.Run("unmarshal", func(b *testing.B) { each(b, func(i int) { _, _ = o.Decode(plain[i%pods].data, Event) }) })
	b.Run("cold", func(b *testing.B) { each(b, func(i int) { _, _ = packed[i%pods].Value(Nowhere) }) })
	for _, o := range packed {
		_, _ = o.Value(Main)
	}
	b.Run("hot", func(b *testing.B) { each(b, func(i int) { _, _ = packed[i%pods].Value(Main) }) })
}

// each runs an operation with numbers in a pseudorandom order.
func each(b *testing.B, operation func(i int)) {
	b.ReportAllocs()
	began := process.CPU()
	for i := range b.N {
		operation(i * 7919)
	}
	b.ReportMetric(float64(process.CPU()-began)/float64(b.N), "cpu-ns/op")
}

// encoded is an object as it arrives.
type encoded struct {
	namespace, name string
	data            []byte
}

func encode(tb testing.TB, p *corev1.Pod) encoded {
	data, err := p.Marshal()
	require.NoError(tb, err)
	return encoded{p.Namespace, p.Name, data}
}

// listed returns the numbers of the pods in the order of a list, by namespace and name.
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
