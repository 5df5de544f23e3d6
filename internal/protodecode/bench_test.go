package protodecode

import (
	"fmt"
	"reflect"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	v1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimeobject "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/tidemark-k8s/tidemark/internal/process"
	"github.com/tidemark-k8s/tidemark/internal/share"
)

var podType = reflect.TypeFor[corev1.Pod]()

// encoded returns n encoded pods.
func encoded(tb testing.TB, n int, pod func(i int) *corev1.Pod) [][]byte {
	all := make([][]byte, n)
	for i := range all {
		var err error
		all[i], err = pod(i).Marshal()
		require.NoError(tb, err)
	}
	return all
}

func generatedPod(data []byte) (any, error) {
	p := new(corev1.Pod)
	err := p.Unmarshal(data)
	return p, err
}

// cached is the number of objects that a benchmark keeps, so that the garbage collector has as much work
// as with a cache.
const cached = 20_000

// BenchmarkDecode first decodes all objects in the order of a list, in which siblings are neighbors, and
// then in random order, as from a watch. "heap/object" is the memory of a listed object, including its
// part of the table.
func BenchmarkDecode(b *testing.B) {
	for _, c := range []struct {
		name string
		pod  func(i int) *corev1.Pod
	}{
		{"siblings", siblingPod},
		{"siblings-without-tokens", func(i int) *corev1.Pod { return withoutToken(siblingPod(i)) }},
		{"lone", lonePod},
	} {
		data := encoded(b, cached, c.pod)
		b.Run(fmt.Sprintf("%s/%d-bytes", c.name, len(data[0])), func(b *testing.B) {
			table := func() func([]byte) (any, error) {
				return New(podType, Options{Table: share.New(0), Values: true}).Decode
			}
			b.Run("generated", func(b *testing.B) { measure(b, data, generatedPod) })
			b.Run("codec", func(b *testing.B) { measure(b, wrapped(b, data), codec()) })
			b.Run("plain", func(b *testing.B) { measure(b, data, New(podType, Options{}).Decode) })
			b.Run("strings", func(b *testing.B) { measure(b, data, New(podType, Options{Table: share.New(0)}).Decode) })
			b.Run("values", func(b *testing.B) { measure(b, data, table()) })
		})
	}
}

// codec decodes like client-go's typed clients.
func codec() func([]byte) (any, error) {
	d := scheme.Codecs.WithoutConversion().DecoderToVersion(protobuf.NewSerializer(scheme.Scheme, scheme.Scheme), v1.SchemeGroupVersion)
	return func(data []byte) (any, error) { return runtimeobject.Decode(d, data) }
}

// wrapped puts the messages into the envelopes that a server sends.
func wrapped(b *testing.B, data [][]byte) [][]byte {
	all := make([][]byte, len(data))
	for i := range data {
		u := runtimeobject.Unknown{TypeMeta: runtimeobject.TypeMeta{APIVersion: "v1", Kind: "Pod"}, Raw: data[i]}
		raw, err := u.Marshal()
		require.NoError(b, err)
		all[i] = append([]byte("k8s\x00"), raw...)
	}
	return all
}

func measure(b *testing.B, data [][]byte, decode func([]byte) (any, error)) {
	kept := make([]any, len(data))
	before, began := process.Heap(), process.CPU()
	for i := range data {
		kept[i], _ = decode(data[i])
	}
	listed := float64(process.CPU()-began) / float64(len(data))
	perObject := float64(process.Heap()-before) / float64(len(data))
	b.ReportAllocs()
	b.ResetTimer()
	started := process.CPU()
	for i := range b.N {
		o, err := decode(data[(i*7919)%len(data)])
		if err != nil {
			b.Fatal(err)
		}
		kept[(i*7919)%len(data)] = o
	}
	b.StopTimer()
	b.ReportMetric(float64(process.CPU()-started)/float64(b.N), "cpu-ns/op")
	b.ReportMetric(listed, "list-cpu-ns/op")
	b.ReportMetric(perObject, "heap/object")
	runtime.KeepAlive(kept)
}
