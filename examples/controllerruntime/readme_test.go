package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/tidemark-k8s/tidemark/controllerruntime"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// The README shows the line that makes the manager. Nothing else is needed.
func TestOneLine(t *testing.T) {
	server := informertest.New(informertest.Options{})
	t.Cleanup(server.Close)
	require.NoError(t, server.StartInMemory())
	config, scheme := server.ClientConfig(), scheme.Scheme

	mgr, err := controllerruntime.NewManager(config, ctrl.Options{Scheme: scheme}) // in place of ctrl.NewManager

	require.NoError(t, err)
	t.Cleanup(mgr.GetHTTPClient().CloseIdleConnections)
	pods, err := mgr.GetCache().GetInformer(t.Context(), &corev1.Pod{}, cache.BlockUntilSynced(false))
	require.NoError(t, err)
	require.Implements(t, (*informer.Shared)(nil), pods)
}
