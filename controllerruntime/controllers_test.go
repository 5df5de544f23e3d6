package controllerruntime

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tidemark-k8s/tidemark/controllerruntime/controllerruntimetest"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// elected returns a manager that runs while it is the leader. Its controller counts the pods that it reconciles.
func elected(t *testing.T, s *informertest.Server, warm bool, reconciled *int) ctrl.Manager {
	t.Helper()
	yes, o := true, quiet()
	o.LeaderElection, o.LeaderElectionID, o.LeaderElectionNamespace, o.LeaderElectionReleaseOnCancel = true, "tidemark", "a", true
	o.Controller.SkipNameValidation, o.Controller.EnableWarmup = &yes, &warm
	m, err := NewManager(s.ClientConfig(), o)
	require.NoError(t, err)
	err = ctrl.NewControllerManagedBy(m).For(&corev1.Pod{}).Complete(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
		*reconciled++
		return reconcile.Result{}, nil
	}))
	require.NoError(t, err)
	return m
}

// A standby reads nothing, and with warm-up what its controllers read. It is ready, and goes on where the leader ends.
func TestLeaderElection(t *testing.T) {
	for name, warm := range map[string]bool{"warm": true, "cold": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t)
				require.NoError(t, s.Create(t.Context(), newPod("a", "one")))
				var reconciled [2]int
				leader, standby := elected(t, s, false, &reconciled[0]), elected(t, s, warm, &reconciled[1])
				stop := controllerruntimetest.Start(t, leader)
				time.Sleep(time.Minute)
				controllerruntimetest.Start(t, standby)
				time.Sleep(time.Minute)
				synctest.Wait()
				require.Equal(t, []string{"pods"}, names(InformersOf(leader)))
				require.Len(t, names(InformersOf(standby)), map[bool]int{true: 1, false: 0}[warm])
				require.NoError(t, InformersOf(standby).Ready(nil))
				require.Equal(t, [2]int{1, 0}, reconciled)
				stop()
				time.Sleep(time.Minute)
				synctest.Wait()
				require.Equal(t, []string{"pods"}, names(InformersOf(standby)))
				require.NoError(t, InformersOf(standby).Ready(nil))
				require.Equal(t, [2]int{1, 1}, reconciled)
			})
		})
	}
}

// The objects of a DeleteAllOf leave the cache with the watch, also with OwnWrites: its answer names none of them.
func TestDeleteAllOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		for _, name := range []string{"one", "two"} {
			require.NoError(t, s.Create(t.Context(), newPod("a", name)))
		}
		require.NoError(t, s.Create(t.Context(), newPod("b", "one")))
		m, err := NewManager(s.ClientConfig(), quiet(), OwnWrites(reflector.NewOwnWrites()))
		require.NoError(t, err)
		runs(t, m)
		var pods corev1.PodList
		require.NoError(t, m.GetClient().List(t.Context(), &pods))
		require.Len(t, pods.Items, 3)
		require.NoError(t, m.GetClient().DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace("a"), client.GracePeriodSeconds(0)))
		controllerruntimetest.Quiet(s)
		require.NoError(t, m.GetClient().List(t.Context(), &pods))
		require.Len(t, pods.Items, 1)
	})
}
