package heapsize

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/tidemark-k8s/tidemark/internal/gotype"
)

// own returns a string with memory of its own.
func own(format string, args ...any) string { return strings.Clone(fmt.Sprintf(format, args...)) }

// podOf makes a pod that shares no memory with other pods.
func podOf(n int) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: own("namespace-%d", n%7), Name: own("pod-with-a-name-%d", n), UID: "", ResourceVersion: own("%d", 1000000+n),
			Labels: map[string]string{own("app"): own("app-%d", n%13), own("pod-template-hash"): own("%08x", n)}, Annotations: map[string]string{},
		},
		Spec: corev1.PodSpec{
			NodeName: own("node-%d", n), ServiceAccountName: own("default"),
			Containers: []corev1.Container{{
				Name: own("main"), Image: own("registry.example/app:%d", n), Command: []string{own("/bin/app"), own("--shard=%d", n)},
				Env: []corev1.EnvVar{{Name: own("ONE"), Value: own("%d", n)}, {Name: own("TWO"), Value: own("%d", n+1)}},
			}},
			Tolerations: []corev1.Toleration{{Key: own("a"), TolerationSeconds: new(int64)}},
		},
		Status: corev1.PodStatus{PodIP: own("10.0.%d.%d", n/250, n%250), StartTime: &metav1.Time{}},
	}
	for a := range n % 12 {
		p.Annotations[own("example.com/annotation-%d", a)] = own("value %d of %d", a, n)
	}
	return p
}

// unstructuredOf makes the same pod, without a Go type.
func unstructuredOf(n int) *unstructured.Unstructured {
	text, err := json.Marshal(podOf(n))
	if err != nil {
		panic(err)
	}
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal(text, &u.Object); err != nil {
		panic(err)
	}
	return u
}

// A weigher's estimate is within 10 % of the growth of the heap, with shared values and without.
func TestBytesAreThoseOfTheHeap(t *testing.T) {
	shared := podOf(11)
	for title, build := range map[string]func(n int) any{
		"pods":         func(n int) any { return podOf(n) },
		"unstructured": func(n int) any { return unstructuredOf(n) },
		"pods that share values": func(n int) any {
			p := podOf(n)
			p.Spec, p.Annotations, p.Labels = shared.Spec, shared.Annotations, shared.Labels
			return p
		},
		"large texts": func(n int) any {
			return &corev1.ConfigMap{Data: map[string]string{own("a"): strings.Repeat("x", 3000+n%20000)}}
		},
		"objects that are no pointers": func(n int) any { return [2]string{own("first %d", n), own("second %d", n)} },
	} {
		t.Run(title, func(t *testing.T) {
			build(0) // allocates the tables that each type needs once
			objects := make([]any, 20000)
			before := heap()
			for n := range objects {
				objects[n] = build(n)
			}
			grown := heap() - before
			var m Weigher
			for _, obj := range objects {
				m.Add(obj)
			}
			t.Logf("%d bytes, of %d on the heap: %+.1f %%", m.Bytes(), grown, 100*(float64(m.Bytes())/float64(grown)-1))
			require.InEpsilon(t, grown, m.Bytes(), 0.1)
			require.LessOrEqual(t, len(m.small.noted), mostNotes)
			runtime.KeepAlive(objects)
		})
	}
}

// heap returns the number of bytes in use on the heap.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc) //nolint:gosec // fits
}

// An object added several times counts once.
func TestTheSameObjectTwice(t *testing.T) {
	var once, twice Weigher
	p := podOf(5)
	once.Add(p)
	twice.Add(p)
	twice.Add(p)
	twice.Add(struct{ A, B *corev1.Pod }{p, p}.A)
	require.Equal(t, once.Bytes(), twice.Bytes())
	require.Positive(t, once.Bytes())
}

// A walk through values that refer to each other in a circle has an end.
func TestCircle(t *testing.T) {
	type ring struct {
		Next *ring
		Name string
	}
	a, b := &ring{Name: own("a")}, &ring{Name: own("b")}
	a.Next, b.Next = b, a
	var m Weigher
	m.Add(a)
	require.EqualValues(t, 2*24+2, m.Bytes())
}

// message is like a struct of protobuf's generator: its state refers to global tables.
type message struct {
	state struct{ tables *map[string]string }
	Name  string
}

// A weigher does not read memory behind unexported fields: package time writes to the local time zone
// when a time is first formatted, while a weigher may be reading.
func TestWhatIsNotExportedIsLeftAlone(t *testing.T) {
	var m Weigher
	m.Add(&metav1.Time{Time: time.Unix(1, 0)})
	require.EqualValues(t, 24, m.Bytes())
	require.False(t, gotype.Of(gotype.GoTime).Refers)

	global := map[string]string{own("a global"): own("table")}
	m = Weigher{}
	m.Add(&message{state: struct{ tables *map[string]string }{&global}, Name: own("a name of twenty-four b")})
	require.EqualValues(t, 24+24, m.Bytes())
}

func TestValuesThatAreNothing(t *testing.T) {
	var m Weigher
	m.Add(nil)
	m.Add((*corev1.Pod)(nil))
	m.Add(map[string]string(nil))
	m.Add(&unstructured.Unstructured{})
	m.Add(struct{}{})
	require.LessOrEqual(t, m.Bytes(), int64(16))
}

func BenchmarkPod(b *testing.B) {
	p := podOf(11)
	b.ReportAllocs()
	for b.Loop() {
		var m Weigher
		m.small.shift = 20
		m.Add(p)
	}
}
