package faults

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// ownWriter is a program that writes pods and reads each one at once from a packed store.
type ownWriter struct {
	s      *scenario
	client kubernetes.Interface
	of     *mirror[*corev1.Pod]
	shown  atomic.Int64
}

// during writes pods during a fault. The churn does not write these pods.
func (w *ownWriter) during(first int, fault func()) {
	ctx, cancel := context.WithCancel(w.s.ctx)
	var writer sync.WaitGroup
	writer.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			w.write(context.WithoutCancel(ctx), first+n%ownPods, n)
			select {
			case <-time.After(5 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	})
	fault()
	cancel()
	writer.Wait()
}

// ownPods is the number of pods that the program writes.
const ownPods = 50

// write patches a pod. If that succeeds, the store must show it. On a busy machine an answer may be too
// late to be shown at once. Then the status counts it, and the watch delivers it.
func (w *ownWriter) write(ctx context.Context, i, n int) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"written":"%d"}}}`, n)
	missed := w.missed()
	wrote, err := w.client.CoreV1().Pods(harness.Namespace(i%namespaces)).Patch(ctx, harness.PodName(i), types.MergePatchType, patch, metav1.PatchOptions{})
	switch {
	case err != nil: // during a fault
		return
	case w.shows(wrote):
		w.shown.Add(1)
		return
	case w.missed() == missed:
		w.s.t.Errorf("the store does not show version %s of %v, which was just written: %+v", wrote.ResourceVersion, keyOf(wrote), w.of.informer.Status().OwnWrites)
	}
	if w.of.informer.WaitFor(ctx, wrote) == nil && !w.shows(wrote) {
		w.s.t.Errorf("the store does not show version %s of %v after the wait", wrote.ResourceVersion, keyOf(wrote))
	}
}

// shows reports whether the store shows the test's write. No other client writes the pod.
func (w *ownWriter) shows(wrote *corev1.Pod) bool {
	got, ok := w.of.informer.Indexer().Get(keyOf(wrote))
	return ok && got.Annotations["written"] == wrote.Annotations["written"]
}

// missed returns the number of writes that the informer has not shown.
func (w *ownWriter) missed() uint64 {
	o := w.of.informer.Status().OwnWrites
	return o.Waiting + o.Doubtful
}

// Informers with packed pods equal an unpacked one and the server after churn, broken watches, an
// unknown version, and an outage. One of them shows the program's own writes.
func TestScenario_Packed(t *testing.T) {
	s := begin(t, harness.Options{})
	n := size(1000, 20_000)
	s.createPods(n)
	proxy := s.proxy()
	config := harness.Via(s.cluster.Config(), proxy.Address())
	own, linked := reflector.NewOwnWrites(), rest.CopyConfig(config)
	linked.Wrap(own.Wire)
	plain := s.pods(config, podSource)
	s.storage = informer.Storage{Decoded: informer.NewBudget(0)}
	cold := s.pods(config, podSource)
	s.storage = informer.Storage{Decoded: informer.NewBudget(1 << 20)}
	hot := s.pods(linked, podSource)
	all := []*mirror[*corev1.Pod]{plain, cold, hot}
	w := &ownWriter{s: s, client: kubernetes.NewForConfigOrDie(s.connect(rest.CopyConfig(linked))), of: hot}
	for _, m := range all {
		m.start()
	}
	for _, m := range all {
		m.watching()
	}
	part, written := size(4*time.Second, 30*time.Second), int64(0)
	during := func(fault func()) {
		c := s.churn(8, n-ownPods, 2*time.Millisecond)
		w.during(n-ownPods, fault)
		c.end()
		written += c.written.Load()
	}
	converge := func() {
		s.heal()
		for _, m := range all {
			m.converge()
			st := m.informer.Status().Storage
			require.Zero(t, st.Pinned)
			require.LessOrEqual(t, st.Decoded, int64(1<<20))
			_, broken := saw[*informer.StorageError](m)
			require.Zero(t, broken)
		}
	}
	converge()
	during(func() {
		for range 3 {
			s.sleep(part / 3)
			proxy.Cut()
		}
	})
	converge()
	during(func() { // afterwards the server does not know the informers' version
		proxy.Refuse()
		proxy.Cut()
		s.sleep(part)
		s.must(s.cluster.RestartAPIServer(s.ctx))
		s.must(proxy.Admit())
	})
	converge()
	require.NotZero(t, cold.informer.Status().Relists)
	during(func() {
		s.must(s.cluster.Etcd.Freeze())
		s.sleep(part)
		s.must(s.cluster.Etcd.Thaw())
		s.sleep(part)
	})
	converge()
	require.NotZero(t, w.shown.Load())
	st := cold.informer.Status()
	s.note = fmt.Sprintf("%d writes, %d own writes read back; %d B per packed pod", written, w.shown.Load(), st.Storage.Packed/int64(st.Objects))
	t.Log(s.note)
	hot.settle()
}
