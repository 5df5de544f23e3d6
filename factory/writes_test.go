package factory_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// writers are programs that write into the cached pod p-2.
var writers = map[string]func(t *testing.T, config *rest.Config){
	"a typed field": func(t *testing.T, config *rest.Config) {
		cached(t, typedPods(t, config, set{})).Spec.NodeName = "n1"
	},
	"a label": func(t *testing.T, config *rest.Config) {
		cached(t, typedPods(t, config, set{})).Labels["app"] = "changed"
	},
	"an unstructured map": func(t *testing.T, config *rest.Config) {
		u := cached(t, dynamicPods(t, config, set{}))
		require.NoError(t, unstructured.SetNestedField(u.Object, "n1", "spec", "nodeName"))
	},
	"a shared value": func(t *testing.T, config *rest.Config) {
		cached(t, typedPods(t, config, set{})).Spec.Containers[0].Env[0].Value = "changed"
	},
	"a packed object that is kept decoded": func(t *testing.T, config *rest.Config) {
		cached(t, typedPods(t, config, set{storage: informer.Storage{Decoded: informer.NewBudget(64 << 20)}})).Spec.NodeName = "n1"
	},
	"a packed object decoded for a read": func(t *testing.T, config *rest.Config) {
		cached(t, typedPods(t, config, set{storage: informer.Storage{Decoded: informer.NewBudget(0)}})).Spec.NodeName = "n1"
	},
	"nothing": func(t *testing.T, config *rest.Config) {
		for _, storage := range []informer.Storage{{}, {Decoded: informer.NewBudget(0)}, {Decoded: informer.NewBudget(64 << 20)}} {
			cached(t, typedPods(t, config, set{storage: storage}))
			cached(t, dynamicPods(t, config, set{storage: storage}))
		}
	},
}

// T15: either variable finds a program that writes into cached objects, of few as of many, and ends it with the
// difference. So each case runs in a process of its own.
func TestContract_T15_WritesIntoCachedObjects(t *testing.T) {
	if which := os.Getenv(factory.WriterCase); which != "" {
		var count int
		var variable, writer string
		_, err := fmt.Sscanf(which, "%d %s %q", &count, &variable, &writer)
		require.NoError(t, err)
		writes(t, count, writers[writer])
		return
	}
	for writer := range writers {
		for _, count := range []int{3, 600} {
			for _, variable := range []string{"TIDEMARK_VERIFY=1", "KUBE_CACHE_MUTATION_DETECTOR=true", "TIDEMARK_VERIFY=structures"} {
				which := fmt.Sprintf("%d %s %q", count, variable, writer)
				if count > 3 && (writer == "nothing" || variable == "TIDEMARK_VERIFY=structures") {
					continue
				}
				t.Run(which, func(t *testing.T) {
					t.Parallel()
					again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestContract_T15_WritesIntoCachedObjects$")
					again.Env = append(os.Environ(), "TIDEMARK_VERIFY=", "KUBE_CACHE_MUTATION_DETECTOR=", variable, factory.WriterCase+"="+which)
					out, err := again.CombinedOutput()
					if writer == "nothing" || variable == "TIDEMARK_VERIFY=structures" {
						require.NoError(t, err, "%s", out)
						return
					}
					require.Error(t, err)
					require.Regexp(t, "cache .* modified: a program has written into .* of default/p-", string(out))
				})
			}
		}
	}
}

// writes lets a program write into one of some pods.
func writes(t *testing.T, count int, writer func(t *testing.T, config *rest.Config)) {
	synctest.Test(t, func(t *testing.T) {
		server := informertest.New(informertest.Options{})
		defer server.Close()
		require.NoError(t, server.StartInMemory())
		for i := range count {
			require.NoError(t, server.Create(t.Context(), limited(fmt.Sprint("p-", i), "100m")))
		}
		writer(t, server.ClientConfig())
		time.Sleep(time.Minute)
	})
}

// cached returns the pod p-2 of the store of a factory that runs until the test ends.
func cached[T informer.Object](t *testing.T, k kindOfFactory[T]) T {
	i, err := k.pods()
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	k.started.StartWithContext(ctx)
	t.Cleanup(func() {
		cancel()
		k.started.Shutdown()
	})
	require.NoError(t, i.WaitSynced(ctx))
	pod, ok := i.Indexer().Get(indexer.Key{Namespace: corev1.NamespaceDefault, Name: "p-2"})
	require.True(t, ok)
	return pod
}
