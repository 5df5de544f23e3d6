package sharepass

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"

	"github.com/tidemark-k8s/tidemark/internal/share"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

func ptr[T any](v T) *T { return &v }

// owners is how many owners the pods of the benchmarks have.
const owners = 400

// podOf returns the i-th pod: every owners-th one has the same owner.
func podOf(i int) *corev1.Pod { return kit.RunningPod(fmt.Sprintf("service-%03d", i%owners), i) }

func decodePod(tb testing.TB, encoded []byte) *corev1.Pod {
	p := &corev1.Pod{}
	if err := p.Unmarshal(encoded); err != nil {
		tb.Fatal(err)
	}
	return p
}

// shareStrings shares the strings of an object, as a decoder does.
func shareStrings(t *share.Table, site share.Site, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(t.String(site, []byte(v.String())))
	case reflect.Pointer:
		if !v.IsNil() {
			shareStrings(t, site, v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			shareStrings(t, site, v.Index(i))
		}
	case reflect.Map:
		for key, elem := range v.Seq2() {
			k, e := reflect.New(key.Type()).Elem(), reflect.New(elem.Type()).Elem()
			k.Set(key)
			e.Set(elem)
			shareStrings(t, site, k)
			shareStrings(t, site, e)
			v.SetMapIndex(key, reflect.Value{})
			v.SetMapIndex(k, e)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				shareStrings(t, site, v.Field(i))
			}
		}
	}
}

func encodedPods(tb testing.TB, n int) [][]byte {
	var all [][]byte
	for i := range n {
		b, err := podOf(i).Marshal()
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, b)
	}
	return all
}

func heap() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// BenchmarkHeapOfPods reports the heap of a pod as it was decoded, with its
// strings shared, and after a pass, the table included.
func BenchmarkHeapOfPods(b *testing.B) {
	const n = 20_000
	encoded, site := encodedPods(b, n), share.NewSite()
	measure := func(decoded func(p *corev1.Pod) *corev1.Pod) float64 {
		before, pods := heap(), make([]*corev1.Pod, n)
		for i, e := range encoded {
			pods[i] = decoded(decodePod(b, e))
		}
		after := heap()
		runtime.KeepAlive(pods)
		return (after - before) / n
	}
	for b.Loop() {
		plain := measure(func(p *corev1.Pod) *corev1.Pod { return p })
		table := share.New(0)
		ofStrings := measure(func(p *corev1.Pod) *corev1.Pod {
			shareStrings(table, site, reflect.ValueOf(p))
			return p
		})
		table = share.New(0)
		pass := New(table)
		shared := measure(func(p *corev1.Pod) *corev1.Pod {
			shareStrings(table, site, reflect.ValueOf(p))
			return pass.Share(p, p).(*corev1.Pod)
		})
		b.ReportMetric(float64(len(encoded[0])), "B/encoded")
		b.ReportMetric(plain, "B/decoded")
		b.ReportMetric(ofStrings, "B/strings")
		b.ReportMetric(shared, "B/passed")
		b.ReportMetric(shared/plain, "ratio")
		runtime.KeepAlive(pass)
	}
}

func BenchmarkPod(b *testing.B) {
	encoded := encodedPods(b, 4*owners)
	pass := New(share.New(0))
	pods := make([]*corev1.Pod, len(encoded))
	for i := 0; b.Loop(); i++ {
		if i%len(pods) == 0 {
			b.StopTimer()
			for j, e := range encoded {
				pods[j] = decodePod(b, e)
			}
			b.StartTimer()
		}
		p := pods[i%len(pods)]
		pass.Share(p, p)
	}
	b.ReportAllocs()
}

func BenchmarkDecode(b *testing.B) {
	encoded := encodedPods(b, owners)
	for i := 0; b.Loop(); i++ {
		decodePod(b, encoded[i%owners])
	}
}

func BenchmarkUnstructuredPod(b *testing.B) {
	s := json.NewSerializerWithOptions(json.DefaultMetaFactory, nil, nil, json.SerializerOptions{})
	var encoded [][]byte
	for i := range 2 * owners {
		var text strings.Builder
		p := podOf(i)
		p.APIVersion, p.Kind = "v1", "Pod"
		if err := s.Encode(p, &text); err != nil {
			b.Fatal(err)
		}
		encoded = append(encoded, []byte(text.String()))
	}
	pass := New(share.New(0))
	pods := make([]*unstructured.Unstructured, len(encoded))
	for i := 0; b.Loop(); i++ {
		if i%len(pods) == 0 {
			b.StopTimer()
			for j, e := range encoded {
				pods[j] = &unstructured.Unstructured{}
				if err := pods[j].UnmarshalJSON(e); err != nil {
					b.Fatal(err)
				}
			}
			b.StartTimer()
		}
		p := pods[i%len(pods)]
		pass.Share(p, p)
	}
	b.ReportAllocs()
}
