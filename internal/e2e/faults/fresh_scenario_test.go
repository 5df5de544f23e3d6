package faults

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// informed starts an informer through a generated client of its own, and waits until it is synced.
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

// WaitFresh of a kind in which nothing happens, while another one moves the server's version, takes some
// seconds; of a busy kind it takes no longer than the watch.
func TestScenario_FreshOfAQuietKind(t *testing.T) {
	s := begin(t, harness.Options{})
	s.createPods(somePods)
	quiet, busy := informed[*corev1.ConfigMap](s, configMaps), informed[*corev1.Pod](s, pods)
	took := map[string][]time.Duration{}
	for n := range size(5, 100) {
		s.touchPods(n, n+1, "fresh")
		for name, wait := range map[string]func() error{
			"quiet": func() error { return quiet.WaitFresh(s.ctx) },
			"busy":  func() error { return busy.WaitFresh(s.ctx) },
		} {
			began := time.Now()
			s.must(wait())
			took[name] = append(took[name], time.Since(began))
		}
		pod, err := s.admin.CoreV1().Pods(harness.Namespace(n%namespaces)).Get(s.ctx, harness.PodName(n), metav1.GetOptions{})
		s.must(err)
		stored, ok := busy.Indexer().Get(indexer.Key{Namespace: pod.Namespace, Name: pod.Name})
		require.True(t, ok)
		require.Equal(t, pod.ResourceVersion, stored.ResourceVersion)
		s.sleep(5 * time.Second) // at most one watch in five seconds is opened for a bookmark
	}
	for name, all := range took {
		slices.Sort(all)
		s.note += fmt.Sprintf("%s: median %v, p99 %v of %d; ", name, all[len(all)/2].Round(time.Millisecond), all[len(all)*99/100].Round(time.Millisecond), len(all))
	}
	t.Log(s.note)
	s.row(0)
}

// An audit under load finds no difference that is none, and each one that is.
func TestScenario_Audit(t *testing.T) {
	s := begin(t, harness.Options{})
	n := size(somePods, 20_000)
	s.createPods(n)
	i := informed[*corev1.Pod](s, pods)
	churn := s.churn(8, n, 10*time.Millisecond)
	began := time.Now()
	for range 10 {
		a, err := i.Audit(s.ctx)
		s.must(err)
		require.Empty(t, a.Differences)
	}
	took := time.Since(began) / 10
	churn.end()
	s.must(i.WaitFresh(s.ctx))

	store := i.Shared().GetStore()
	var want []indexer.Key
	for pod := range i.Indexer().All() {
		if len(want) == 20 {
			break
		}
		want = append(want, indexer.Key{Namespace: pod.Namespace, Name: pod.Name})
		if len(want)%2 == 0 {
			s.must(store.Delete(pod))
			continue
		}
		old := pod.DeepCopy()
		old.ResourceVersion = "1"
		s.must(store.Update(old))
	}
	a, err := i.Audit(s.ctx)
	s.must(err)
	var found []indexer.Key
	for _, d := range a.Differences {
		found = append(found, d.Key)
	}
	require.ElementsMatch(t, want, found)
	s.note = fmt.Sprintf("%d objects in %v", a.Objects, took.Round(time.Millisecond))
	t.Log(s.note, churn.written.Load(), "writes")
	s.row(took)
}
