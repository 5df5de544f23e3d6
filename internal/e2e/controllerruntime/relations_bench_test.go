package controllerruntime

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tidemark-k8s/tidemark/controllerruntime"
	"github.com/tidemark-k8s/tidemark/indexer/refs"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// BenchmarkReferrers finds the pods that refer to a Secret: by an index that the controller has written, in
// client-go's informers and without copies, and by a view.
func BenchmarkReferrers(b *testing.B) {
	const namespaces, podsOfEach = 50, 100
	server, random := informertest.New(informertest.Options{}), rand.New(rand.NewPCG(52, 0))
	b.Cleanup(server.Close)
	require.NoError(b, server.Start())
	for n := range namespaces {
		for i := range podsOfEach {
			p := pod(fmt.Sprint("ns-", n), fmt.Sprint("p-", i), "web")
			refer(p, random)
			require.NoError(b, server.Create(b.Context(), p))
		}
	}
	secret := func(i int) types.NamespacedName {
		return types.NamespacedName{Namespace: fmt.Sprint("ns-", i%namespaces), Name: fmt.Sprint("secret-", i%6)}
	}
	hand := cache.Options{DefaultUnsafeDisableDeepCopy: new(true)}
	reader := runCache(b, server.ClientConfig(), hand)
	config, o := server.ClientConfig(), cache.Options{}
	informers, err := controllerruntime.Use(config, &o, controllerruntime.Indexes(&corev1.Pod{}, refs.ByReference[*corev1.Pod]()))
	require.NoError(b, err)
	runCache(b, config, o)

	byIndex := func(i int) int {
		var found corev1.PodList
		require.NoError(b, reader.List(b.Context(), &found, client.InNamespace(secret(i).Namespace), client.MatchingFields{"secrets": secret(i).Name}))
		return len(found.Items)
	}
	byView := func(i int) (n int) {
		pods, err := controllerruntime.View[*corev1.Pod](informers)
		require.NoError(b, err)
		found, err := pods.Find(refs.ReferringTo(refs.Ref{Kind: "Secret", Namespace: secret(i).Namespace, Name: secret(i).Name}))
		require.NoError(b, err)
		for range found {
			n++
		}
		return n
	}
	for i := range 6 * namespaces {
		require.Equal(b, byIndex(i), byView(i))
	}
	for name, find := range map[string]func(int) int{"clientgo": byIndex, "view": byView} {
		b.Run("impl="+name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				find(i)
			}
		})
	}
}

// runCache runs a cache of pods, with the index of bySecrets, until the benchmark ends.
func runCache(b *testing.B, config *rest.Config, o cache.Options) cache.Cache {
	c, err := cache.New(config, o)
	require.NoError(b, err)
	require.NoError(b, c.IndexField(b.Context(), &corev1.Pod{}, "secrets", bySecrets))
	ctx, cancel := context.WithCancel(context.WithoutCancel(b.Context()))
	ended := make(chan error, 1)
	go func() { ended <- c.Start(ctx) }()
	b.Cleanup(func() {
		cancel()
		require.NoError(b, <-ended)
	})
	require.True(b, c.WaitForCacheSync(b.Context()))
	return c
}
