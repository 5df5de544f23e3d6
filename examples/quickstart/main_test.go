package main

import (
	"bytes"
	"log"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/internal/testutil/program"
)

func TestMain(m *testing.M) { program.Main(m) }

// The README shows this test.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, out := informertest.New(informertest.Options{}), new(bytes.Buffer)
		t.Cleanup(server.Close)
		require.NoError(t, server.StartInMemory())
		require.NoError(t, server.Create(t.Context(), pod("web-0", corev1.PodPending)))
		client := kubernetes.NewForConfigOrDie(server.ClientConfig())
		go func() { assert.NoError(t, watch(t.Context(), client, log.New(out, "", 0))) }()
		synctest.Wait() // watch has listed the pods, and waits for changes
		require.NoError(t, server.Update(t.Context(), pod("web-0", corev1.PodRunning)))
		synctest.Wait()
		require.Equal(t, "1 of 1 pods have the label app=web\nweb-0 Pending -> Running\n", out.String())
	})
}
