package controllerruntime

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// manager makes a manager whose caches use the rig's library.
func (r *rig) manager(t *testing.T) manager.Manager {
	t.Helper()
	unnamed := true
	o := manager.Options{
		Scheme:     scheme.Scheme,
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: &unnamed}, // the tests use the same names
	}
	o.Cache.NewInformer = r.informer
	m, err := ctrl.NewManager(r.config, o)
	require.NoError(t, err)
	t.Cleanup(func() { utilnet.CloseIdleConnectionsFor(m.GetHTTPClient().Transport) })
	return m
}

// run runs a manager until the test ends.
func (r *rig) run(t *testing.T, m manager.Manager) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, receive(t, ended))
		r.watches(t, 0)
	})
}

// counter sets status.replicas of a ReplicaSet to the number of its pods.
type counter struct{ client.Client }

func (c counter) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var set appsv1.ReplicaSet
	if err := c.Get(ctx, request.NamespacedName, &set); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	var pods corev1.PodList
	if err := c.List(ctx, &pods, client.InNamespace(request.Namespace), client.MatchingFields{"owner": request.Name}); err != nil {
		return reconcile.Result{}, err
	}
	if set.Status.Replicas == int32(len(pods.Items)) { //nolint:gosec // a test has few pods
		return reconcile.Result{}, nil
	}
	set.Status.Replicas = int32(len(pods.Items)) //nolint:gosec // a test has few pods
	return reconcile.Result{}, c.Status().Update(ctx, &set)
}

// byOwner indexes pods by the name of their controller.
func byOwner(o client.Object) []string {
	if owner := metav1.GetControllerOf(o); owner != nil {
		return []string{owner.Name}
	}
	return nil
}

// A controller that owns pods combines events, indexes, reads and writes.
func TestManagerReconciles(t *testing.T) {
	for name, watched := range map[string]builder.OwnsOption{"typed": nil, "metadata": builder.OnlyMetadata} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, r *rig) {
				set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "set"}}
				r.create(t, set)
				owned := func(name string) *corev1.Pod {
					p := pod("a", name, "web")
					require.NoError(t, controllerutil.SetControllerReference(set, p, scheme.Scheme))
					return p
				}
				one := owned("one")
				r.create(t, one, pod("a", "nobodys", "web"))

				m := r.manager(t)
				require.NoError(t, m.GetFieldIndexer().IndexField(t.Context(), &corev1.Pod{}, "owner", byOwner))
				b := ctrl.NewControllerManagedBy(m).For(&appsv1.ReplicaSet{})
				if watched == nil {
					b = b.Owns(&corev1.Pod{})
				} else {
					b = b.Owns(&corev1.Pod{}, watched)
				}
				require.NoError(t, b.Complete(counter{m.GetClient()}))
				r.run(t, m)

				replicas := func(want int32) {
					t.Helper()
					await(t, "the number of replicas", func() bool {
						var now appsv1.ReplicaSet
						require.NoError(t, r.server.Get(t.Context(), "a", "set", &now))
						return now.Status.Replicas == want
					})
				}
				replicas(1)
				r.create(t, owned("two"))
				if watched == nil { // the index and the events come from different informers
					replicas(2)
					r.remove(t, one)
					replicas(1)
				}
			})
		})
	}
}

// Events of objects that existed before the controller are marked as initial, so that its queue can
// prioritize new events.
func TestInitialEventsAreMarked(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.create(t, pod("a", "old", "web"))
		m := r.manager(t)
		recorded := make(chan event.CreateEvent, 10)
		tell := predicate.Funcs{CreateFunc: func(e event.CreateEvent) bool {
			recorded <- e
			return true
		}}
		reconciled := make(chan string, 10)
		require.NoError(t, ctrl.NewControllerManagedBy(m).Named("marks").
			Watches(&corev1.Pod{}, &handler.EnqueueRequestForObject{}, builder.WithPredicates(tell)).
			Complete(reconcile.Func(func(_ context.Context, request reconcile.Request) (reconcile.Result, error) {
				reconciled <- request.Name
				return reconcile.Result{}, nil
			})))
		r.run(t, m)
		assert.True(t, receive(t, recorded).IsInInitialList)
		assert.Equal(t, "old", receive(t, reconciled))
		r.create(t, pod("a", "new", "web"))
		assert.False(t, receive(t, recorded).IsInInitialList)
		assert.Equal(t, "new", receive(t, reconciled))
	})
}

// A manager gives up when a controller's cache does not sync, whether the server refuses requests or
// does not answer.
func TestCacheSyncTimeout(t *testing.T) {
	for name, block := range map[string]func(*gate){"silence": (*gate).shut, "refusal": (*gate).refuse} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, r *rig) {
				block(r.gate)
				m := r.manager(t)
				require.NoError(t, ctrl.NewControllerManagedBy(m).For(&corev1.Pod{}).
					WithOptions(controller.Options{CacheSyncTimeout: 100 * time.Millisecond}).
					Complete(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
						return reconcile.Result{}, errors.New("nothing is reconciled")
					})))
				ended := make(chan error, 1)
				go func() { ended <- m.Start(t.Context()) }()
				require.ErrorContains(t, receive(t, ended), "timed out waiting for cache to be synced")
				r.watches(t, 0)
			})
		})
	}
}

// A manager can stop at any time, also before any cache has synced.
func TestManagerStopsBeforeTheSync(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.gate.shut()
		m := r.manager(t)
		require.NoError(t, ctrl.NewControllerManagedBy(m).For(&corev1.Pod{}).Complete(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
			return reconcile.Result{}, nil
		})))
		r.run(t, m)
		await(t, "a request", func() bool { return len(r.gate.requests()) > 0 })
	})
}
