package informertest

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/tidemark-k8s/tidemark/internal/testutil/claims"
)

// The scripts show the faithful behavior that README.md promises. A real server also passes them.
func TestClaims(t *testing.T) { playHere(t, Options{}, "testdata/claims/*.txt") }

// These scripts need the feature gate ShardedListAndWatch.
func TestClaims_Sharded(t *testing.T) {
	playHere(t, Options{ShardedListAndWatch: true}, "testdata/claims/sharded/*.txt")
}

// playHere plays scripts against a server of this package.
func playHere(t *testing.T, o Options, scripts string) {
	t.Helper()
	s := startServer(t, o)
	compact := func() error {
		s.Compact()
		return nil
	}
	playAll(t, scripts, claims.Server{
		URL: s.ClientConfig().Host, Client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, Compact: compact,
		Register: func(k claims.Kind) error {
			return s.Register(Kind{
				GVR:        schema.GroupVersionResource{Group: k.Group, Version: k.Version, Resource: k.Resource},
				GVK:        schema.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind},
				Namespaced: k.Namespaced, Generation: true, Status: true, Scale: true,
			})
		},
		Unregister: func(k claims.Kind) error {
			return s.Unregister(schema.GroupVersionResource{Group: k.Group, Version: k.Version, Resource: k.Resource})
		},
	})
}

// TestClaimsOfARealServer plays the scripts on the cluster of a kubeconfig, such as the one that make
// controlplane prints. It creates namespaces and deletes them.
func TestClaimsOfARealServer(t *testing.T) {
	const variable = "CLAIMS_KUBECONFIG"
	kubeconfig := os.Getenv(variable)
	if kubeconfig == "" {
		t.Skip(variable + " names no cluster")
	}
	c, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	require.NoError(t, err)
	client, err := rest.HTTPClientFor(c)
	require.NoError(t, err)
	playAll(t, "testdata/claims/*.txt", claims.Server{URL: c.Host, Client: client})
	utilnet.CloseIdleConnectionsFor(client.Transport)
}

func playAll(t *testing.T, scripts string, s claims.Server) {
	t.Helper()
	names, err := filepath.Glob(scripts)
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			script, err := os.ReadFile(name)
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // in case an event is missing
			defer cancel()
			require.NoError(t, s.Play(ctx, string(script)))
		})
	}
}
