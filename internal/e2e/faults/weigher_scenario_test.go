package faults

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit/cluster"
)

// weigher starts a process that weighs informers of all pods.
func (s *scenario) weigher() *harness.Process {
	s.t.Helper()
	kubeconfig := filepath.Join(s.t.TempDir(), "kubeconfig")
	s.must(s.cluster.WriteKubeconfig(kubeconfig, s.cluster.Address()))
	binary, err := os.Executable()
	s.must(err)
	p := harness.NewProcess(binary, s.t.TempDir(), weigherEnv+"="+kubeconfig, "TIDEMARK_VERIFY=")
	s.must(p.Start(s.ctx))
	s.t.Cleanup(p.Kill)
	return p
}

// The memory that an informer reports equals the growth of the heap within 15 %, whether or not objects
// share values.
func TestScenario_MemoryAsReported(t *testing.T) {
	s := begin(t, harness.Options{})
	n := size(3_000, 10_000)
	maker := cluster.New(37, n)
	s.must(harness.Each(s.ctx, harness.Creators, n, func(ctx context.Context, i int) error {
		return s.cluster.Store(ctx, "pods", maker.Pod(i))
	}))
	s.heal()

	p := s.weigher()
	began := time.Now()
	select {
	case <-p.Exited():
	case <-s.ctx.Done():
		require.NoError(t, s.ctx.Err())
	}
	output, err := p.Output()
	s.must(err)
	var recorded []weighed
	for lines := bufio.NewScanner(strings.NewReader(output)); lines.Scan(); {
		var w weighed
		if json.Unmarshal(lines.Bytes(), &w) == nil && w.Pods > 0 {
			recorded = append(recorded, w)
		}
	}
	require.Len(t, recorded, 5, output)
	var notes []string
	for _, w := range recorded[1:] {
		sum := w.Objects + w.Engine
		notes = append(notes, fmt.Sprintf("%s %.1f MB reported, %.1f MB on the heap", w.Informer, float64(sum)/(1<<20), float64(w.Heap)/(1<<20)))
		require.Equal(t, n, w.Pods, w.Informer)
	}
	s.note = strings.Join(notes, "; ")
	t.Log(s.note)
	for _, w := range recorded[1:] {
		require.InEpsilon(t, w.Heap, w.Objects+w.Engine, 0.15, "%+v", recorded)
	}
	s.row(time.Since(began))
}
