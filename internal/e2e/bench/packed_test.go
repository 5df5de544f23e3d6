package bench

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/process"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// Additional implementations, for packed stores.
const (
	packed     = "packed"      // informer.New with a budget of 0
	packedKeys = "packed-keys" // the same, with HandleKeys
	packedHot  = "packed-hot"  // the same, with a budget for all objects
	packedAged = "packed-aged" // the same as packed, after rollouts
)

// compare runs a benchmark for two implementations. They are in the columns of client-go and of the
// typed API.
func compare(b *testing.B, name, theirs, ours string, f func(b *testing.B, impl string)) {
	b.Run(name+"/impl="+clientgo, func(b *testing.B) { f(b, theirs) })
	b.Run(name+"/impl="+typed, func(b *testing.B) { f(b, ours) })
}

// podStream answers a watch of all pods with a stream of n pods in protobuf. It makes each pod when it
// sends it, so that the server needs no memory, or sends events that were encoded before. Then rollouts
// may follow. Each one replaces all pods. podStream is an http.RoundTripper.
type podStream struct {
	n        int
	pod      func(i int) *corev1.Pod
	encoded  []byte
	rollouts []func(i int) *corev1.Pod
}

// RoundTrip implements http.RoundTripper.
func (s *podStream) RoundTrip(r *http.Request) (*http.Response, error) {
	body, w := io.Pipe()
	stop := context.AfterFunc(r.Context(), func() { _ = w.CloseWithError(r.Context().Err()) })
	go func() {
		defer stop()
		s.stream(w, r.URL.Query().Get("sendInitialEvents") == "true")
		<-r.Context().Done()
	}()
	return &http.Response{
		StatusCode: http.StatusOK, Body: body, Request: r,
		Header: http.Header{"Content-Type": {"application/vnd.kubernetes.protobuf;stream=watch"}},
	}, nil
}

// stream writes the initial state and its bookmark.
func (s *podStream) stream(w io.Writer, initial bool) {
	if !initial {
		return
	}
	if s.encoded != nil {
		_, _ = w.Write(s.encoded)
		return
	}
	for i := range s.n {
		if writeEvent(w, "ADDED", s.pod(i)) != nil {
			return
		}
	}
	_ = writeEvent(w, "BOOKMARK", &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		ResourceVersion: version(s.n), Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
	}})
	before := s.pod
	for _, pod := range s.rollouts {
		for i := range s.n {
			if writeEvent(w, "DELETED", before(i)) != nil || writeEvent(w, "ADDED", pod(i)) != nil {
				return
			}
		}
		before = pod
	}
}

// writeEvent writes an event like a kube-apiserver: a frame with its length.
func writeEvent(w io.Writer, typ string, pod *corev1.Pod) error {
	raw, err := pod.Marshal()
	if err != nil {
		return err
	}
	envelope, err := (&k8sruntime.Unknown{TypeMeta: k8sruntime.TypeMeta{APIVersion: "v1", Kind: "Pod"}, Raw: raw}).Marshal()
	if err != nil {
		return err
	}
	event, err := (&metav1.WatchEvent{Type: typ, Object: k8sruntime.RawExtension{Raw: append([]byte("k8s\x00"), envelope...)}}).Marshal()
	if err != nil {
		return err
	}
	_, err = w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(event))), event...)) //nolint:gosec // small
	return err
}

func (s *podStream) client(b *testing.B) kubernetes.Interface {
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "http://pods", Transport: s, ContentConfig: rest.ContentConfig{ContentType: k8sruntime.ContentTypeProtobuf}})
	require.NoError(b, err)
	return client
}

// packedWorld is an informer that has read the pods of a podStream.
type packedWorld struct {
	get  func(indexer.Key) any
	stop func()
}

var podResource = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// read starts an informer, and waits until its handler has received all pods of all rollouts.
func (s *podStream) read(b *testing.B, impl string) packedWorld {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	var got sync.WaitGroup
	got.Add(s.n * (1 + len(s.rollouts)))
	w := packedWorld{stop: func() { cancel(); running.Wait() }}
	if impl == clientgo {
		i := informers.NewSharedInformerFactory(s.client(b), 0).Core().V1().Pods().Informer()
		_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { got.Done() }})
		require.NoError(b, err)
		running.Go(func() { i.RunWithContext(ctx) })
		w.get = shared{SharedIndexInformer: i}.get
	} else {
		var o informer.Options[*corev1.Pod]
		switch impl {
		case packed, packedKeys:
			o.Storage.Decoded = informer.NewBudget(0)
		case packedHot:
			o.Storage.Decoded = informer.NewBudget(math.MaxInt64)
		}
		i := informer.New(reflector.FromGenerated[*corev1.Pod](s.client(b).CoreV1().Pods(""), podResource), o)
		var err error
		if impl == packedKeys {
			_, err = i.HandleKeys(func(indexer.Key) { got.Done() }, informer.HandlerOptions{})
		} else {
			_, err = i.Handle(informer.Funcs[*corev1.Pod]{Added: func(*corev1.Pod) { got.Done() }}, informer.HandlerOptions{})
		}
		require.NoError(b, err)
		running.Go(func() { _ = i.Run(ctx) })
		w.get = own[*corev1.Pod]{i}.get
	}
	got.Wait()
	return w
}

// owned returns pods in the order of a server. each is the number of pods per owner.
func owned(each int) func(i int) *corev1.Pod {
	return func(i int) *corev1.Pod { return kit.RunningPod(fmt.Sprintf("%05d", i/each), i) }
}

// rollout returns the pods of a rollout, five per owner. They have new names, and new common fields.
func rollout(n int) func(i int) *corev1.Pod {
	hash := func(of ...any) string { return fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, of...))) }
	template := hash(n)[:10]
	env := make([]corev1.EnvVar, 40)
	for i := range env {
		env[i] = corev1.EnvVar{Name: fmt.Sprintf("CONFIG_%d", i), Value: hash(n, i)}
	}
	return func(i int) *corev1.Pod {
		p := kit.RunningPod(fmt.Sprintf("%05d", i/5), i)
		p.Name = strings.Replace(p.Name, "7d4b9c6f5d", template, 1)
		p.Labels["pod-template-hash"] = template
		p.Spec.Containers[0].Env = append(p.Spec.Containers[0].Env, env...)
		return p
	}
}

// BenchmarkPackedHeap measures the total heap per pod: of an informer that has read 500 pods per owner,
// five pods per owner, or pods that share nothing, and of one after 50 rollouts compared with a new one.
func BenchmarkPackedHeap(b *testing.B) {
	for _, pods := range []struct {
		name string
		n    int
		pod  func(i int) *corev1.Pod
	}{
		{"500-of-each", *objects, owned(500)},
		{"5-of-each", *objects, owned(5)},
		{"unique", min(8000, *objects), func(i int) *corev1.Pod { return made().Unique(i) }},
	} {
		compare(b, pods.name, clientgo, packed, func(b *testing.B, impl string) {
			made() // this memory is not the informer's
			count(b, "B/object", func() float64 {
				s := &podStream{n: pods.n, pod: pods.pod}
				before := heapAtRest()
				w := s.read(b, impl)
				extra := heapAtRest() - before
				runtime.KeepAlive(w)
				w.stop()
				return extra / float64(s.n)
			})
		})
	}
	compare(b, "after-rollouts", packed, packedAged, func(b *testing.B, impl string) {
		const rollouts = 50
		count(b, "B/object", func() float64 {
			s := &podStream{n: min(4000, *objects), pod: rollout(rollouts)}
			if impl == packedAged {
				s.pod = rollout(0)
				for n := range rollouts {
					s.rollouts = append(s.rollouts, rollout(n+1))
				}
			}
			before := heapAtRest()
			w := s.read(b, packed)
			extra := heapAtRest() - before
			runtime.KeepAlive(w)
			w.stop()
			return extra / float64(s.n)
		})
	})
}

// BenchmarkPackedMillion measures the heap of an informer with a million packed pods, and the peak
// memory of the process, including the server, with a limit of 950 MiB. It must be the only benchmark of
// its run, with -objects 1000000.
func BenchmarkPackedMillion(b *testing.B) {
	if *objects < 1_000_000 {
		b.Skip("only with -objects 1000000")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(950 << 20))
	s := &podStream{n: *objects, pod: owned(500)}
	before := heapAtRest()
	w := s.read(b, packedKeys)
	b.ReportMetric(heapAtRest()-before, "heap-B")
	b.ReportMetric(float64(process.PeakRSS()), "peak-B")
	runtime.KeepAlive(w)
	w.stop()
}

// BenchmarkPackedSync measures the CPU time until a handler has received 100 pods per owner, or their
// keys: from client-go and from a packed store, and from a shared store and from a packed one.
func BenchmarkPackedSync(b *testing.B) {
	for _, c := range []struct{ name, theirs, ours string }{
		{"objects", clientgo, packed},
		{"objects-shared", typed, packed},
		{"keys-shared", typed, packedKeys},
	} {
		compare(b, c.name, c.theirs, c.ours, func(b *testing.B, impl string) {
			s := &podStream{n: min(20_000, *objects), pod: owned(100)}
			var encoded bytes.Buffer
			s.stream(&encoded, true)
			s.encoded = encoded.Bytes()
			m := newSection(b)
			for range m.rounds {
				m.begin()
				w := s.read(b, impl)
				m.end()
				w.stop()
			}
		})
	}
}

// BenchmarkPackedGet measures reading a pod: one that is not decoded, compared with Unmarshal of its
// bytes, and one that is decoded, compared with a shared store.
func BenchmarkPackedGet(b *testing.B) {
	pod := owned(100)
	keys := make([]indexer.Key, min(20_000, *objects))
	bodies := make([][]byte, len(keys))
	for i := range keys {
		p := pod(i)
		keys[i] = indexer.Key{Namespace: p.Namespace, Name: p.Name}
		bodies[i], _ = p.Marshal()
	}
	s := &podStream{n: len(keys), pod: pod}
	get := func(b *testing.B, impl string, some int) {
		w := s.read(b, impl)
		defer w.stop()
		measureAgain(b, func() {
			for i := range b.N {
				if w.get(keys[i%some]) == nil {
					b.Fatal("no pod")
				}
			}
		})
	}
	b.Run("cold/impl="+clientgo, func(b *testing.B) {
		measureAgain(b, func() {
			for i := range b.N {
				require.NoError(b, new(corev1.Pod).Unmarshal(bodies[i%len(bodies)]))
			}
		})
	})
	b.Run("cold/impl="+typed, func(b *testing.B) { get(b, packed, len(keys)) })
	compare(b, "hot-shared", typed, packedHot, func(b *testing.B, impl string) { get(b, impl, min(1000, len(keys))) })
}
