package faults

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
)

// createSmall creates configmaps of about 600 bytes with random data.
func (s *scenario) createSmall(n int) {
	s.t.Helper()
	s.must(harness.Each(s.ctx, harness.Creators, n, func(ctx context.Context, i int) error {
		noise := make([]byte, 200)
		_, _ = rand.NewChaCha8([32]byte{byte(i), byte(i >> 8), byte(i >> 16)}).Read(noise) // never fails
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: configMapName(i)}, Data: map[string]string{"key": hex.EncodeToString(noise)}}
		_, err := s.admin.CoreV1().ConfigMaps("default").Create(ctx, cm, metav1.CreateOptions{})
		return err
	}))
}

// keeper starts a process that caches all configmaps on one processor. The library's self-checks are off
// in it, because they need memory.
func (s *scenario) keeper() *harness.Process {
	s.t.Helper()
	kubeconfig := filepath.Join(s.t.TempDir(), "kubeconfig")
	s.must(s.cluster.WriteKubeconfig(kubeconfig, s.cluster.Address()))
	binary, err := os.Executable()
	s.must(err)
	p := harness.NewProcess(binary, s.t.TempDir(), keeperEnv+"="+kubeconfig, "GOMAXPROCS=1", "TIDEMARK_VERIFY=")
	s.must(p.Start(s.ctx))
	s.t.Cleanup(p.Kill)
	return p
}

// limit limits a process to two fifths of a processor until it ends, in periods of a tenth of a second,
// like a container with a CPU limit.
func (s *scenario) limit(p *harness.Process) {
	for s.ctx.Err() == nil {
		if p.Freeze() != nil {
			return
		}
		s.sleep(60 * time.Millisecond)
		if p.Thaw() != nil {
			return
		}
		s.sleep(40 * time.Millisecond)
	}
}

// With one processor and a limit, reading and decoding take turns, and the list is stored as it arrives.
// The heap is never much larger than at the end.
func TestScenario_ManyObjectsOneProcessor(t *testing.T) {
	s := begin(t, harness.Options{Flags: []string{"--feature-gates=WatchList=false"}})
	n := size(10_000, 100_000)
	s.createSmall(n)
	want, err := s.admin.CoreV1().ConfigMaps("default").List(s.ctx, metav1.ListOptions{})
	s.must(err)
	s.heal()

	p := s.keeper()
	began := time.Now()
	s.limit(p)
	took := time.Since(began)
	output, err := p.Output()
	s.must(err)
	last := output[strings.LastIndex(strings.TrimSpace(output), "\n")+1:]
	var k kept
	require.NoError(t, json.Unmarshal([]byte(last), &k), output)

	const mb = 1 << 20
	s.note = fmt.Sprintf("%d objects in %.1f MB; at most %.1f MB while the list arrived", k.Objects, float64(k.Final)/mb, float64(k.Peak)/mb)
	require.Equal(t, digest(pointers(want.Items)), k.Digest, "the cache equals the server's objects")
	require.Equal(t, len(want.Items), k.Objects)
	require.Equal(t, 1, k.Lists, "one list was enough")
	require.Greater(t, k.Looks, 5, "the heap was measured while the list arrived")
	require.Less(t, k.Peak, k.Final+k.Final/10+mb, s.note)
	s.counted = append(s.counted, k)
	s.row(took)
}
