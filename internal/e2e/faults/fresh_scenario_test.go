package faults

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/audit"
	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// informed starts an informer with its own generated client, and waits until it is synced.
func informed[T informer.Object](s *scenario, from func(kubernetes.Interface) reflector.Source) *informer.Informer[T] {
	s.t.Helper()
	i := informer.New(from(kubernetes.NewForConfigOrDie(s.connect(s.cluster.Config()))), informer.Options[T]{})
	wait, err := i.Start(s.ctx)
	s.must(err)
	s.t.Cleanup(func() { require.NoError(s.t, wait()) })
	s.must(i.WaitSynced(s.ctx))
	return i
}

func pods(c kubernetes.Interface) reflector.Source {
	return reflector.FromGenerated[*corev1.Pod](c.CoreV1().Pods(""), corev1.SchemeGroupVersion.WithResource("pods"))
}

func configMaps(c kubernetes.Interface) reflector.Source {
	return reflector.FromGenerated[*corev1.ConfigMap](c.CoreV1().ConfigMaps("quiet"), corev1.SchemeGroupVersion.WithResource("configmaps"))
}

// freshness measures calls of WaitFresh, by row name.
type freshness map[string][]time.Duration

// wait waits until an informer is fresh.
func (f freshness) wait(s *scenario, name string, i interface{ WaitFresh(context.Context) error }) {
	began := time.Now()
	s.must(i.WaitFresh(s.ctx))
	f[name] = append(f[name], time.Since(began))
}

// String returns the rows for the table's note.
func (f freshness) String() string {
	var rows []string
	for _, name := range slices.Sorted(maps.Keys(f)) {
		rows = append(rows, name+": "+spread(f[name]))
	}
	return strings.Join(rows, "; ")
}

// spread describes the median, the 99th percentile and the number of durations.
func spread(all []time.Duration) string {
	slices.Sort(all)
	return fmt.Sprintf("median %v, p99 %v of %d", all[len(all)/2].Round(time.Millisecond), all[len(all)*99/100].Round(time.Millisecond), len(all))
}

// WaitFresh for a kind without changes, while another kind advances the server's version, takes some
// seconds. For a busy kind it takes no longer than the watch.
func TestScenario_FreshOfAQuietKind(t *testing.T) {
	t.Parallel() // it mostly waits
	s := begin(t, harness.Options{})
	s.createPods(somePods)
	quiet, busy := informed[*corev1.ConfigMap](s, configMaps), informed[*corev1.Pod](s, pods)
	took, calls := freshness{}, size(5, 100)
	for n := range calls {
		s.touchPods(n, n+1, "fresh")
		took.wait(s, "busy", busy)
		took.wait(s, "quiet", quiet)
		pod, err := s.admin.CoreV1().Pods(harness.Namespace(n%namespaces)).Get(s.ctx, harness.PodName(n), metav1.GetOptions{})
		s.must(err)
		stored, ok := busy.Indexer().Get(indexer.Key{Namespace: pod.Namespace, Name: pod.Name})
		require.True(t, ok)
		require.Equal(t, pod.ResourceVersion, stored.ResourceVersion)
		s.sleep(2 * time.Second) // at most one watch per two seconds is opened for a bookmark
	}
	for n := range size(3, 100) {
		s.touchPods(n, n+1, "again")
		took.wait(s, "quiet, called again at once", quiet)
	}
	s.note = took.String()
	t.Log(s.note)
	s.row(0)
}

// longestList lists the pods of a small namespace until do has returned. It returns the time of the
// slowest list. A list waits while the store is being written.
func longestList(i *informer.Informer[*corev1.Pod], do func()) (longest time.Duration) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	in := i.Lister().Namespace("nowhere")
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		began := time.Now()
		_, _ = in.List(labels.Everything()) // the namespace is empty
		longest = max(longest, time.Since(began))
		select {
		case <-tick.C:
		case <-done:
			return longest
		}
	}
}

// An audit under load finds exactly the real differences.
func TestScenario_Audit(t *testing.T) {
	s := begin(t, harness.Options{})
	n := size(5_000, 100_000)
	s.storePods(n)
	i := informed[*corev1.Pod](s, pods)
	churn, stored := s.churn(4, n/2, 40*time.Millisecond), s.storeOften(n/2, n, 400) // about 500 changes per second
	var took []time.Duration
	began := time.Now()
	during := longestList(i, func() {
		for range 5 {
			began := time.Now()
			a, err := audit.Of(s.ctx, i.Shared())
			took = append(took, time.Since(began))
			if err != nil || len(a.Differences) > 0 {
				t.Error(a, err)
			}
		}
	})
	without := longestList(i, func() { s.sleep(time.Since(began)) })
	rate := float64(churn.written.Load()+stored.Load()) / time.Since(began).Seconds()
	churn.end()
	stored.end()
	s.must(i.WaitFresh(s.ctx))

	want := s.differ(i, 30)
	a, err := audit.Of(s.ctx, i.Shared())
	s.must(err)
	found := map[indexer.Key]audit.Kind{}
	for _, d := range a.Differences {
		found[d.Key] = d.Kind
	}
	require.Equal(t, want, found)
	s.note = fmt.Sprintf("%d objects under %.0f changes/s: %s; the longest list %v, without an audit %v; the probe %s",
		a.Objects, rate, spread(took), during.Round(10*time.Microsecond), without.Round(10*time.Microsecond), s.probe())
	t.Log(s.note)
	s.row(0)
}

// storePods writes n pods directly into etcd, like those of createPods.
func (s *scenario) storePods(n int) {
	s.must(harness.CreateNamespaces(s.ctx, s.admin, namespaces))
	s.must(harness.Each(s.ctx, harness.Creators, n, func(ctx context.Context, i int) error {
		return s.cluster.Store(ctx, "pods", storedPod(i, 0))
	}))
}

// storedPod returns a pod as etcd stores it.
func storedPod(i, round int) *corev1.Pod {
	pod := harness.Pod(harness.Namespace(i%namespaces), harness.PodName(i), i)
	pod.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	pod.UID = types.UID(fmt.Sprintf("0b5c9f3e-6a57-4c43-9d2c-%012x", i))
	pod.CreationTimestamp = metav1.Unix(1_700_000_000, 0)
	pod.Annotations["round"] = fmt.Sprint(round)
	return pod
}

// storing counts the pods that are repeatedly written into etcd.
type storing struct {
	atomic.Int64
	end func() // stops writing and waits until it has ended
}

// storeOften writes the pods from first up to end into etcd, at most perSecond per second. Through its
// API, a kube-apiserver on two processors handles fewer writes.
func (s *scenario) storeOften(first, end, perSecond int) *storing {
	const writers = 8
	ctx, cancel := context.WithCancel(s.ctx)
	var writing sync.WaitGroup
	w := &storing{end: func() {
		cancel()
		writing.Wait()
	}}
	s.t.Cleanup(w.end)
	for writer := range writers {
		writing.Go(func() {
			tick := time.NewTicker(writers * time.Second / time.Duration(perSecond))
			defer tick.Stop()
			for turn := writer; ctx.Err() == nil; turn += writers {
				s.must(s.cluster.Store(s.ctx, "pods", storedPod(first+turn%(end-first), turn)))
				w.Add(1)
				select {
				case <-tick.C:
				case <-ctx.Done():
				}
			}
		})
	}
	return w
}

// differ makes the store of an informer lose n objects, have n other objects, and have n objects in old
// versions.
func (s *scenario) differ(i *informer.Informer[*corev1.Pod], n int) map[indexer.Key]audit.Kind {
	store, made := i.Shared().GetIndexer(), map[indexer.Key]audit.Kind{}
	for pod := range i.Indexer().All() {
		key := indexer.Key{Namespace: pod.Namespace, Name: pod.Name}
		pod = pod.DeepCopy()
		switch len(made) / n {
		case 0:
			made[key] = audit.Missing
			s.must(store.Delete(pod))
		case 1:
			made[key] = audit.Other
			pod.ResourceVersion = "1"
			s.must(store.Update(pod))
		case 2:
			key.Name, pod.Name = "extra-"+key.Name, "extra-"+pod.Name
			made[key] = audit.Extra
			s.must(store.Add(pod))
		default:
			return made
		}
	}
	return made
}

// probe requests the newest version of the pods. It describes the time and the bytes for the table's
// note.
func (s *scenario) probe() string {
	var bytes atomic.Int64
	config := s.connect(s.cluster.Config())
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return bytesCounted{next, &bytes} })
	source := pods(kubernetes.NewForConfigOrDie(config))
	var took []time.Duration
	for range 100 {
		began := time.Now()
		version, err := reflector.Newest(s.ctx, source)
		took = append(took, time.Since(began))
		s.must(err)
		require.NotEmpty(s.t, version)
	}
	return fmt.Sprintf("%s, %d bytes", spread(took), bytes.Load()/int64(len(took)))
}

// bytesCounted is a transport that counts the bytes of answers.
type bytesCounted struct {
	http.RoundTripper
	bytes *atomic.Int64
}

func (w bytesCounted) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := w.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = countedBody{answer.Body, w.bytes}
	}
	return answer, err
}

// countedBody is the body of such an answer.
type countedBody struct {
	io.ReadCloser
	bytes *atomic.Int64
}

func (b countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.bytes.Add(int64(n))
	return n, err
}
