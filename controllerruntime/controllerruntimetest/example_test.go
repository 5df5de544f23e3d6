package controllerruntimetest_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tidemark-k8s/tidemark/controllerruntime"
	"github.com/tidemark-k8s/tidemark/controllerruntime/controllerruntimetest"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// labeler gives each ConfigMap the label seen=true.
type labeler struct{ client.Client }

func (l labeler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var c corev1.ConfigMap
	if err := l.Get(ctx, request.NamespacedName, &c); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if c.Labels["seen"] == "true" {
		return reconcile.Result{}, nil
	}
	c.Labels = map[string]string{"seen": "true"}
	return reconcile.Result{}, l.Update(ctx, &c)
}

// newManager makes the program: it has one controller.
func newManager(cfg *rest.Config, o ctrl.Options) (ctrl.Manager, error) {
	m, err := controllerruntime.NewManager(cfg, o)
	if err != nil {
		return nil, err
	}
	return m, ctrl.NewControllerManagedBy(m).For(&corev1.ConfigMap{}).Complete(labeler{m.GetClient()})
}

// The controller labels what is there and what comes, and writes nothing again after a restart.
func TestLabeler(t *testing.T) {
	ctrl.SetLogger(klog.Logger{})
	synctest.Test(t, func(t *testing.T) {
		s := informertest.New(informertest.Options{})
		t.Cleanup(s.Close)
		require.NoError(t, s.StartInMemory())
		c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "one"}}
		require.NoError(t, s.Create(t.Context(), c))
		options := ctrl.Options{
			Metrics:    server.Options{BindAddress: "0"},                 // no server
			Controller: config.Controller{SkipNameValidation: new(true)}, // two managers with the same controller
		}
		m, err := newManager(s.ClientConfig(), options)
		require.NoError(t, err)
		stop := controllerruntimetest.Start(t, m)
		controllerruntimetest.Quiet(s)
		require.NoError(t, s.Get(t.Context(), "a", "one", c))
		require.Equal(t, map[string]string{"seen": "true"}, c.Labels)

		c.Labels = nil
		require.NoError(t, s.Update(t.Context(), c))
		controllerruntimetest.Quiet(s)
		stop()
		writes := informertest.Request{Verb: "update", Resource: "configmaps"}
		require.Len(t, s.Requests().Of(writes), 2)

		m, err = newManager(s.ClientConfig(), options)
		require.NoError(t, err)
		controllerruntimetest.Start(t, m)
		controllerruntimetest.Quiet(s)
		require.Len(t, s.Requests().Of(writes), 2)
	})
}
