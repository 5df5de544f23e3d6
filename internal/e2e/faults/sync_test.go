package faults

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
)

// somePods is the number of pods in most scenarios.
const somePods = 1000

func TestScenario_SyncByWatchList(t *testing.T) {
	s := begin(t, harness.Options{Audit: true})
	s.createPods(size(somePods, 10_000))
	config := s.cluster.Config()
	config.UserAgent = "tidemark-sync"
	s.heal()
	m := s.watchPods(config)
	m.watching()
	m.settle()
	s.budget(1)

	sent, err := s.cluster.Audited(config.UserAgent)
	require.NoError(t, err)
	require.Len(t, sent, 1, "exactly one request arrived")
	require.Equal(t, "watch", sent[0].Verb)
	require.Equal(t, "true", sent[0].Query.Get("sendInitialEvents"))
}

func TestScenario_SyncByList(t *testing.T) {
	s := begin(t, harness.Options{Flags: []string{"--feature-gates=WatchList=false"}})
	s.createPods(size(somePods, 10_000))
	s.heal()
	m := s.watchPods(s.cluster.Config())
	m.watching()
	m.settle()
	s.budget(3) // a refused stream, a list, and a watch
	require.Equal(t, "1+1+1", m.requests.String())
}

func TestPodsAreRealistic(t *testing.T) {
	s := begin(t, harness.Options{})
	s.createPods(10)
	all, err := s.pods(s.cluster.Config(), podSource).list(s.ctx)
	require.NoError(t, err)
	data, err := all[0].Marshal()
	require.NoError(t, err)
	require.NotEmpty(t, all[0].ManagedFields)
	require.InDelta(t, 8000, len(data), 1500, fmt.Sprintf("bytes of a pod; managed fields: %d", len(all[0].ManagedFields)))
}
