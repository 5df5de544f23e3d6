package faults

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
	"github.com/tidemark-k8s/tidemark/internal/testutil/claims"
)

// What informertest claims to be faithful to is true of a real server, as it
// comes. Its own tests play the same scripts against informertest. What follows
// a COMPACT is left out: such a server serves what it has in its caches on.
func TestClaims(t *testing.T) {
	scripts, err := filepath.Glob("../../../informer/informertest/testdata/claims/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, scripts)
	s := begin(t, harness.Options{})
	config := s.connect(s.dynamicConfig())
	client, err := rest.HTTPClientFor(config)
	s.must(err)
	server := claims.Server{URL: config.Host, Client: client}
	for _, script := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(script), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(script)
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			require.NoError(t, server.Play(ctx, string(text)))
		})
	}
}
