package faults

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// The watch cache of a kube-apiserver is empty after a restart. A client that missed changes before the
// restart can no longer watch them.
func TestScenario_APIServerRestarted(t *testing.T) {
	s := begin(t, harness.Options{})
	s.createPods(somePods)
	proxy := s.proxy()
	config := harness.Via(s.cluster.Config(), proxy.Address())
	config.Wrap(reflector.Wire)
	m := s.watchPods(config)
	m.watching()
	s.eventually("the handlers know all objects", m.viewsDiffer)
	proxy.Refuse()
	proxy.Cut()
	s.deletePods(0, 100)
	s.touchPods(100, 200, "7")
	s.must(s.cluster.RestartAPIServer(s.ctx))
	s.must(proxy.Admit())
	s.heal()
	m.settle()
	s.budget(12)
	require.Positive(t, m.informer.Status().Relists)
	require.Equal(t, somePods+200, m.views[0].count(), "a relist delivers nothing for unchanged objects")
}

func TestScenario_APIServerKilledUnderChurn(t *testing.T) {
	s := begin(t, harness.Options{})
	s.createPods(somePods)
	config := s.cluster.Config()
	config.Wrap(reflector.Wire)
	m := s.watchPods(config)
	m.synced()
	c := s.churn(8, somePods, 2*time.Millisecond)
	for range size(2, 6) {
		s.sleep(2 * time.Second)
		s.must(s.cluster.RestartAPIServer(s.ctx))
	}
	s.heal()
	s.sleep(time.Second)
	c.end()
	m.settle()
	s.budget(size(25, 75))
}

func TestScenario_EtcdStopped(t *testing.T) {
	t.Parallel() // it mostly waits
	s := begin(t, harness.Options{})
	s.createPods(somePods)
	m := s.watchPods(s.cluster.Config())
	m.synced()
	c := s.churn(8, somePods, 2*time.Millisecond)
	s.sleep(time.Second)
	s.must(s.cluster.Etcd.Freeze())
	s.sleep(size(8*time.Second, 20*time.Second))
	s.must(s.cluster.Etcd.Thaw())
	s.heal()
	s.sleep(2 * time.Second)
	c.end()
	m.settle()
	s.budget(10)
}

func TestScenario_EtcdKilled(t *testing.T) {
	t.Parallel() // it mostly waits
	s := begin(t, harness.Options{})
	s.createPods(somePods)
	m := s.watchPods(s.cluster.Config())
	m.synced()
	c := s.churn(8, somePods, 2*time.Millisecond)
	s.sleep(time.Second)
	s.cluster.Etcd.Kill()
	s.sleep(3 * time.Second)
	s.must(s.cluster.Etcd.Start(s.ctx))
	s.heal()
	s.sleep(2 * time.Second)
	c.end()
	m.settle()
	s.budget(15)
}

// uncached makes the kube-apiserver answer requests for configmaps directly from etcd.
const uncached = "--watch-cache-sizes=configmaps#0"

// createConfigMaps creates the configmaps from first up to end.
func (s *scenario) createConfigMaps(first, end int) {
	s.t.Helper()
	s.must(harness.Each(s.ctx, harness.Creators, end-first, func(ctx context.Context, i int) error {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: configMapName(first + i)}, Data: map[string]string{"key": "value"}}
		_, err := s.admin.CoreV1().ConfigMaps("default").Create(ctx, cm, metav1.CreateOptions{})
		return err
	}))
}

func (s *scenario) deleteConfigMaps(first, end int) {
	s.t.Helper()
	s.must(harness.Each(s.ctx, harness.Creators, end-first, func(ctx context.Context, i int) error {
		return s.admin.CoreV1().ConfigMaps("default").Delete(ctx, configMapName(first+i), metav1.DeleteOptions{})
	}))
}

func configMapName(i int) string { return fmt.Sprintf("config-%05d", i) }

func TestScenario_VersionCompacted(t *testing.T) {
	s := begin(t, harness.Options{Flags: []string{uncached}})
	s.createConfigMaps(0, somePods)
	proxy := s.proxy()
	m := s.configMaps(harness.Via(s.cluster.Config(), proxy.Address()), asItIs)
	m.start()
	m.watching()
	proxy.Refuse()
	proxy.Cut()
	s.deleteConfigMaps(0, 100)
	s.createConfigMaps(somePods, somePods+100)
	s.must(s.cluster.Compact(s.ctx))
	s.must(proxy.Admit())
	s.heal()
	m.settle()
	s.budget(12)
	require.Equal(t, 1, m.informer.Status().Relists)
	m.reported(apierrors.IsResourceExpired)
}

func asItIs(src reflector.Source) reflector.Source { return src }

// A list is read in pages, and etcd compacts the list's version between two of them.
func TestScenario_ContinueTokenExpires(t *testing.T) {
	s := begin(t, harness.Options{Flags: []string{uncached, "--feature-gates=ListFromCacheSnapshot=false,WatchList=false"}})
	s.createConfigMaps(0, somePods+200)
	first := true
	m := s.configMaps(s.cluster.Config(), func(src reflector.Source) reflector.Source {
		list := src.List
		src.List = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			page, err := list(ctx, o)
			if first {
				first = false
				s.deleteConfigMaps(0, 100)
				s.createConfigMaps(5000, 5100)
				s.must(s.cluster.Compact(s.ctx))
			}
			return page, err
		}
		return src
	})
	s.heal()
	m.start()
	m.watching()
	m.settle()
	s.budget(5) // a refused stream, a page, an expired page, a list in one page, and a watch
	require.Zero(t, m.informer.Status().Relists)
	m.reported(apierrors.IsResourceExpired)
}

// The server's data is restored from a copy, so that its newest resourceVersions are lower than the
// informer's. The informer notices and relists (D23).
//
// The restored server accepts a watch from a future version, and sends nothing, not even bookmarks. The
// informer relists when a watch after an outage has been silent for a minute and a half.
func TestScenario_HistoryGoesBack(t *testing.T) {
	t.Parallel() // it mostly waits
	s := begin(t, harness.Options{})
	s.createPods(somePods)
	s.must(s.cluster.Backup(s.ctx))
	m := s.watchPods(s.cluster.Config())
	for _, v := range m.views {
		v.AnyOrder = true
	}
	m.synced()
	s.touchPods(0, 200, "3")
	s.deletePods(200, 300)
	m.converge()
	s.must(s.cluster.Restore(s.ctx))
	s.heal()
	m.settle()
	s.budget(15)
	_, recorded := saw[reflector.HistoryWentBack](m)
	require.Equal(t, 1, recorded)
}

// reported fails the test unless the informer has reported a wanted failure.
func (m *mirror[T]) reported(wanted func(error) bool) {
	m.s.t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()

	for _, e := range m.events {
		if failed, ok := e.(reflector.Failed); ok && wanted(failed.Err) {
			return
		}
	}
	m.s.t.Error("the informer has not reported a failure of this kind")
}
