package controllerruntime

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// begins starts a manager, which stops with the test, and has it cache some kinds. It does not wait for them to sync.
func begins(t *testing.T, m ctrl.Manager, kinds ...client.Object) {
	t.Helper()
	t.Cleanup(begin(t, m))
	<-m.Elected()
	caches(t, m, kinds...)
}

// caches has a running manager cache some kinds.
func caches(t *testing.T, m ctrl.Manager, kinds ...client.Object) {
	t.Helper()
	for _, kind := range kinds {
		_, err := m.GetCache().GetInformer(t.Context(), kind, cache.BlockUntilSynced(false))
		require.NoError(t, err)
	}
	synctest.Wait()
}

// Ready fails until the informers of its first call are synced, says which in the log, and never fails again.
func TestReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		m, err := NewManager(s.ClientConfig(), quiet())
		require.NoError(t, err)
		in := InformersOf(m)
		goOn := s.Stall(informertest.Request{Resource: "pods"})
		begins(t, m, &corev1.Pod{}, &corev1.Secret{})
		lines := logged.Count("Not ready")
		for range 2 {
			err := in.Ready(nil)
			require.ErrorContains(t, err, "pods not synced")
			require.NotContains(t, err.Error(), "secrets")
		}
		require.Equal(t, 2, logged.Count("Not ready")-lines)
		end := s.Stall(informertest.Request{Resource: "deployments"})
		caches(t, m, &appsv1.Deployment{})
		goOn()
		synctest.Wait()
		require.NoError(t, in.Ready(nil), "the informer of deployments is younger than the first call")
		end()
		synctest.Wait()
		require.NoError(t, in.Ready(nil))
	})
}

// A standby has no informers, and is ready; that it begins to read later changes nothing.
func TestAStandbyIsReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		m, err := NewManager(s.ClientConfig(), quiet())
		require.NoError(t, err)
		begins(t, m)
		require.NoError(t, InformersOf(m).Ready(nil))
		defer s.Stall(informertest.Request{Resource: "pods"})()
		caches(t, m, &corev1.Pod{})
		require.NoError(t, InformersOf(m).Ready(nil))
	})
}

// An informer that is removed before it is synced is not awaited any more.
func TestARemovedInformerIsNotAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		m, err := NewManager(s.ClientConfig(), quiet())
		require.NoError(t, err)
		defer s.Stall(informertest.Request{Resource: "pods"})()
		begins(t, m, &corev1.Pod{})
		require.Error(t, InformersOf(m).Ready(nil))
		require.NoError(t, m.GetCache().RemoveInformer(t.Context(), &corev1.Pod{}))
		synctest.Wait()
		require.NoError(t, InformersOf(m).Ready(nil))
	})
}

// A kind whose conversion webhook is in the same pod can be listed when the pod is ready: Ready would wait for ever, and
// ReadyExcept of the kind does not. Deployments stand for the kind.
func TestAWebhookInTheSamePod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		m, err := NewManager(s.ClientConfig(), quiet())
		require.NoError(t, err)
		podIsReady := s.Stall(informertest.Request{Resource: "deployments"})
		begins(t, m, &appsv1.Deployment{}, &corev1.Pod{})
		in := InformersOf(m)
		require.ErrorContains(t, in.Ready(nil), "deployments")
		require.NoError(t, in.ReadyExcept(&appsv1.Deployment{})(nil))
		podIsReady()
		synctest.Wait()
		require.NoError(t, in.Ready(nil))
	})
}

func TestAnotherManagerIsNeverReady(t *testing.T) {
	var in *Informers
	require.ErrorIs(t, in.Ready(nil), errForeign)
	require.ErrorIs(t, in.ReadyExcept(&corev1.Pod{})(nil), errForeign)
	require.Empty(t, names(in))
}
