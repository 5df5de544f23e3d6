package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

func TestRecord(t *testing.T) {
	s := startServer(t)
	require.NoError(t, s.Create(t.Context(), newPod("shop", "old", "web")))
	name := filepath.Join(t.TempDir(), "pods.jsonl")
	p := start(t, "--kubeconfig", writeKubeconfig(t, s.ClientConfig().Host), "--record", name)
	p.prints(t, "New Pod Added to Store: old$")
	require.NoError(t, s.Create(t.Context(), newPod("shop", "new", "web")))
	p.prints(t, "New Pod Added to Store: new$")
	p.interrupt()
	assert.Zero(t, <-p.exit)
	assert.Empty(t, p.stderr.String())

	file, err := os.Open(name)
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	recording, err := informertest.Replay(file)
	require.NoError(t, err)
	client, err := kubernetes.NewForConfig(recording.ClientConfig())
	require.NoError(t, err)
	yes := true
	w, err := client.CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{SendInitialEvents: &yes})
	require.NoError(t, err)
	defer w.Stop()
	for _, want := range []string{"old", "", "new"} { // the second is the end of the initial state
		assert.Equal(t, want, (<-w.ResultChan()).Object.(metav1.Object).GetName())
	}
}

func TestRecordingThatCannotBeWritten(t *testing.T) {
	kubeconfig := writeKubeconfig(t, "http://127.0.0.1:1")
	assert.Contains(t, failure(t, "--kubeconfig", kubeconfig, "--record", filepath.Join(t.TempDir(), "no", "folder")), "--record: open")
	assert.Contains(t, failure(t, "--demo", "--record", "x"), "exclude each other")
}
