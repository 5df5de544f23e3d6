package faults

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
)

// An informer that is leased again reads all objects again, whatever the server remembers.
func TestScenario_LeaseAcquiredAgain(t *testing.T) {
	s := begin(t, harness.Options{})
	s.createPods(somePods)
	ctx, cancel := context.WithCancel(s.ctx)
	f := factory.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(s.connect(s.cluster.Config())), 0)
	f.StartWithContext(ctx)
	defer f.Shutdown()
	defer cancel()

	leased := func() {
		lease, err := factory.Acquire[*corev1.Pod](f, factory.Scope{Namespaces: []string{harness.Namespace(0), harness.Namespace(1)}})
		s.must(err)
		s.must(lease.Informer().WaitFresh(ctx))
		s.must(s.holds(lease))
		lease.Release()
		for range f.Informers() {
			require.Fail(t, "the stopped informer must be dropped")
		}
	}
	leased()
	s.deletePods(0, 100)
	s.touchPods(100, 200, "7")
	leased()
	leased()

	s.deletePods(100, 150)
	s.touchPods(150, 200, "8")
	s.must(s.cluster.Compact(s.ctx))
	s.must(s.cluster.RestartAPIServer(s.ctx))
	leased()
}

// holds compares the cache of a leased informer with the server's pods.
func (s *scenario) holds(lease *factory.Lease[*corev1.Pod]) error {
	found := make(map[string]string)
	for pod := range lease.Informer().Indexer().All() {
		found[pod.Namespace+"/"+pod.Name] = pod.ResourceVersion
	}
	for n := range 2 {
		pods, err := s.admin.CoreV1().Pods(harness.Namespace(n)).List(s.ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, pod := range pods.Items {
			key := pod.Namespace + "/" + pod.Name
			if found[key] != pod.ResourceVersion {
				return fmt.Errorf("%s is at version %q, want %q", key, found[key], pod.ResourceVersion)
			}
			delete(found, key)
		}
	}
	if len(found) > 0 {
		return fmt.Errorf("%d deleted pods are still in the cache: %v", len(found), found)
	}
	return nil
}
