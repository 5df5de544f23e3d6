package faults

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
	"github.com/tidemark-k8s/tidemark/internal/testutil/claims"
)

// TestClaims plays the scripts that the tests of informertest play against informertest, against a
// kube-apiserver with default flags.
//
// The server stores the history twice: in etcd, and in its watch cache. To discard the history, the test
// compacts etcd and restarts the server, which ends the watches.
func TestClaims(t *testing.T) {
	s := begin(t, harness.Options{})
	forget := func() error {
		s.must(s.cluster.Compact(s.ctx))
		return s.cluster.RestartAPIServer(s.ctx)
	}
	s.play(forget, scripts, func(script string) bool { return script != openWatch })
}

// Without the watch cache, a compaction is enough, and a watch can stay open.
func TestClaims_OfAnOpenWatch(t *testing.T) {
	s := begin(t, harness.Options{Flags: []string{uncached}})
	s.play(func() error { return s.cluster.Compact(s.ctx) }, scripts, func(script string) bool { return script == openWatch })
}

// With the feature gate ShardedListAndWatch, the server selects by shard.
func TestClaims_Sharded(t *testing.T) {
	s := begin(t, harness.Options{Flags: []string{sharded}})
	s.play(nil, scripts+"/sharded", func(string) bool { return true })
}

// sharded is the flag of a server that filters by shard. Without it, the server ignores a shardSelector.
const sharded = "--feature-gates=ShardedListAndWatch=true"

// scripts is the folder with the scripts for servers without feature gates.
const scripts = "../../../informer/informertest/testdata/claims"

// openWatch is the script in which a watch is open while the history is discarded.
const openWatch = "forgotten"

// play plays the wanted scripts in a folder.
func (s *scenario) play(forget func() error, folder string, wanted func(script string) bool) {
	s.t.Helper()
	files, err := filepath.Glob(folder + "/*.txt")
	s.must(err)
	config := s.connect(s.dynamicConfig())
	client, err := rest.HTTPClientFor(config)
	s.must(err)
	server := claims.Server{URL: config.Host, Client: client, Compact: forget}
	played := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		if !wanted(name) {
			continue
		}
		played++
		s.t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), patience) // limits the wait for a missing event
			defer cancel()
			require.NoError(t, server.Play(ctx, string(text)))
		})
	}
	require.NotZero(s.t, played)
}
