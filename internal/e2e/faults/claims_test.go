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

// What informertest claims to be faithful to is true of a real server, as it
// comes. Its own tests play the same scripts against informertest.
//
// Such a server has its history twice: in etcd, and in a cache that lives as
// long as it does. It forgets all of it when etcd is compacted and it starts
// anew, which ends the watches.
func TestClaims(t *testing.T) {
	s := begin(t, harness.Options{})
	forget := func() error {
		s.must(s.cluster.Compact(s.ctx))
		return s.cluster.RestartAPIServer(s.ctx)
	}
	s.play(forget, func(script string) bool { return script != openWatch })
}

// Without the cache, a compaction is enough, and a watch can be open meanwhile.
func TestClaims_OfAnOpenWatch(t *testing.T) {
	s := begin(t, harness.Options{Flags: []string{uncached}})
	s.play(func() error { return s.cluster.Compact(s.ctx) }, func(script string) bool { return script == openWatch })
}

// openWatch is the script in which a watch is open while the history is forgotten.
const openWatch = "forgotten"

// play plays those of the scripts that are wanted.
func (s *scenario) play(forget func() error, wanted func(script string) bool) {
	s.t.Helper()
	files, err := filepath.Glob("../../../informer/informertest/testdata/claims/*.txt")
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
			ctx, cancel := context.WithTimeout(t.Context(), patience) // for an event that does not come
			defer cancel()
			require.NoError(t, server.Play(ctx, string(text)))
		})
	}
	require.NotZero(s.t, played)
}
