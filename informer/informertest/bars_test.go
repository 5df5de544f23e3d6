package informertest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The benchmarks measure what a server costs a test. The targets for an operation on an idle machine are 1 ms
// for BenchmarkStart, 20 ms for BenchmarkSeed, and 300 ms for BenchmarkClientset. Times depend on the
// machine, so no test compares them.

// manyPods returns 1,000 pods like those of a cluster.
func manyPods() []*corev1.Pod {
	pods := make([]*corev1.Pod, 1000)
	for i := range pods {
		pods[i] = newPod("a", fmt.Sprint("p-", i), "app", fmt.Sprint(i%10))
		pods[i].Spec = corev1.PodSpec{NodeName: fmt.Sprint("n-", i%50), Containers: []corev1.Container{{Name: "c", Image: "i"}}}
	}
	return pods
}

// BenchmarkStart measures New, StartInMemory and Close.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		s := New(Options{})
		require.NoError(b, s.StartInMemory())
		s.Close()
	}
}

// BenchmarkSeed creates 1,000 objects with Create.
func BenchmarkSeed(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		s, pods := New(Options{}), manyPods()
		b.StartTimer()
		for _, p := range pods {
			require.NoError(b, s.Create(b.Context(), p))
		}
		b.StopTimer()
		s.Close()
		b.StartTimer()
	}
}

// BenchmarkClientset creates 1,000 objects with a clientset.
func BenchmarkClientset(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		s, pods := New(Options{}), manyPods()
		require.NoError(b, s.StartInMemory())
		client := newClient(b, s.ClientConfig())
		b.StartTimer()
		for _, p := range pods {
			_, err := client.CoreV1().Pods("a").Create(b.Context(), p, metav1.CreateOptions{})
			require.NoError(b, err)
		}
		b.StopTimer()
		s.Close()
		b.StartTimer()
	}
}

// A hundred parallel tests can each have a server, because a server needs no port.
func TestServersInParallel(t *testing.T) {
	for i := range 100 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			s := New(Options{})
			defer s.Close()
			require.NoError(t, s.StartInMemory())
			client := newClient(t, s.ClientConfig())
			for _, p := range manyPods()[:10] {
				_, err := client.CoreV1().Pods("a").Create(t.Context(), p, metav1.CreateOptions{})
				require.NoError(t, err)
			}
			found, err := client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			require.Len(t, found.Items, 10)
			require.Equal(t, "11", found.ResourceVersion)
		})
	}
}
