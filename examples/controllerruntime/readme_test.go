package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// README and MIGRATION show these two lines of a manager, and nothing else is needed.
func TestTwoLines(t *testing.T) {
	server := informertest.New(informertest.Options{})
	t.Cleanup(server.Close)
	require.NoError(t, server.StartInMemory())
	config := server.ClientConfig()

	config.Wrap(reflector.Wire) // before the manager is made
	mgr, err := ctrl.NewManager(config, ctrl.Options{Cache: cache.Options{NewInformer: informer.ForControllerRuntime}})

	require.NoError(t, err)
	t.Cleanup(mgr.GetHTTPClient().CloseIdleConnections)
	pods, err := mgr.GetCache().GetInformer(t.Context(), &corev1.Pod{}, cache.BlockUntilSynced(false))
	require.NoError(t, err)
	require.Implements(t, (*informer.Shared)(nil), pods)
}
