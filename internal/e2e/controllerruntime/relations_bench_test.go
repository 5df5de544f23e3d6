package controllerruntime

import (
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

// The benchmark's pods.
const (
	namespaces = 50
	podsOfEach = 100
)

// BenchmarkReferrers finds the pods that refer to a Secret: by a handwritten index in client-go's
// informers, without copies, and by a view.
func BenchmarkReferrers(b *testing.B) {
	secret := func(i int) types.NamespacedName {
		return types.NamespacedName{Namespace: fmt.Sprint("ns-", i%namespaces), Name: fmt.Sprint("secret-", i%6)}
	}
	var before []int // the result of the other way
	for _, way := range []struct {
		impl string
		make func(b *testing.B) func(types.NamespacedName) int
	}{{"clientgo", indexed}, {"view", viewed}} {
		b.Run("impl="+way.impl, func(b *testing.B) {
			find := way.make(b)
			var found []int
			for i := range 6 * namespaces {
				found = append(found, find(secret(i)))
			}
			if before != nil {
				require.Equal(b, before, found)
			}
			before = found
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				find(secret(i))
			}
		})
	}
}

// populated returns a rig with client-go whose server has the pods.
func populated(b *testing.B) *rig {
	r, random := newRig(b, clientgo, informertest.Options{}), rand.New(rand.NewPCG(52, 0))
	for n := range namespaces {
		for i := range podsOfEach {
			p := pod(fmt.Sprint("ns-", n), fmt.Sprint("p-", i), "web")
			refer(p, random)
			r.create(b, p)
		}
	}
	return r
}

// indexed returns a function that counts the pods that refer to a Secret by bySecrets.
func indexed(b *testing.B) func(secret types.NamespacedName) int {
	c := populated(b).started(b, cache.Options{DefaultUnsafeDisableDeepCopy: new(true)})
	require.NoError(b, c.IndexField(b.Context(), &corev1.Pod{}, "secrets", bySecrets))
	return func(secret types.NamespacedName) int {
		var found corev1.PodList
		require.NoError(b, c.List(b.Context(), &found, client.InNamespace(secret.Namespace), client.MatchingFields{"secrets": secret.Name}))
		return len(found.Items)
	}
}

// viewed is like indexed, by a view.
func viewed(b *testing.B) func(secret types.NamespacedName) int {
	r, o := populated(b), cache.Options{}
	config := rest.CopyConfig(r.config)
	informers, err := controllerruntime.Use(config, &o, controllerruntime.Indexes(&corev1.Pod{}, refs.ByReference[*corev1.Pod]()))
	require.NoError(b, err)
	c, err := cache.New(config, o)
	require.NoError(b, err)
	b.Cleanup(r.start(b, c))
	require.True(b, c.WaitForCacheSync(b.Context()), "the cache must sync")
	_, err = c.GetInformer(b.Context(), &corev1.Pod{})
	require.NoError(b, err)
	return func(secret types.NamespacedName) (n int) {
		pods, err := controllerruntime.View[*corev1.Pod](informers)
		require.NoError(b, err)
		found, err := pods.Find(refs.ReferringTo(refs.Ref{Kind: "Secret", Namespace: secret.Namespace, Name: secret.Name}))
		require.NoError(b, err)
		for range found {
			n++
		}
		return n
	}
}
