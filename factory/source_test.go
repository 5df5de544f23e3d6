package factory

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// wrapped are real clients inside a wrapper that may say that it cannot stream.
type (
	willing struct{ lists bool }

	wrappedClientset struct {
		kubernetes.Interface
		willing
	}
	wrappedDynamic struct {
		dynamic.Interface
		willing
	}
	wrappedMetadata struct {
		metadata.Interface
		willing
	}
)

func (w willing) IsWatchListSemanticsUnSupported() bool { return w.lists }

// T16: the factory asks the client it was given whether it can stream, not only the client of one
// kind made from it.
func TestContract_T16_AClientWithoutStreams(t *testing.T) {
	typed := func(c *rest.Config, w willing) wrappedClientset {
		return wrappedClientset{kubernetes.NewForConfigOrDie(c), w}
	}
	for name, run := range map[string]func(t *testing.T, ctx context.Context, c *rest.Config, w willing){
		"of a namespaced kind": func(_ *testing.T, ctx context.Context, c *rest.Config, w willing) {
			f := NewSharedInformerFactory(typed(c, w), 0)
			f.Core().V1().Pods().Informer()
			f.StartWithContext(ctx)
		},
		"of a cluster-scoped kind": func(_ *testing.T, ctx context.Context, c *rest.Config, w willing) {
			f := NewSharedInformerFactory(typed(c, w), 0)
			f.Core().V1().Nodes().Informer()
			f.StartWithContext(ctx)
		},
		"Acquire": func(t *testing.T, ctx context.Context, c *rest.Config, w willing) {
			f := NewSharedInformerFactory(typed(c, w), 0)
			_, err := Acquire[*corev1.Pod](f, Scope{Namespaces: []string{"prod"}})
			require.NoError(t, err)
			f.StartWithContext(ctx)
		},
		"NewFilteredInformer": func(_ *testing.T, ctx context.Context, c *rest.Config, w willing) {
			go NewFilteredInformer[*corev1.Pod](typed(c, w), "prod", 0, nil, nil).RunWithContext(ctx)
		},
		"dynamic": func(_ *testing.T, ctx context.Context, c *rest.Config, w willing) {
			f := NewDynamicSharedInformerFactory(wrappedDynamic{dynamic.NewForConfigOrDie(c), w}, 0)
			f.ForResource(podResource).Informer()
			f.StartWithContext(ctx)
		},
		"metadata": func(_ *testing.T, ctx context.Context, c *rest.Config, w willing) {
			f := NewMetadataSharedInformerFactory(wrappedMetadata{metadata.NewForConfigOrDie(c), w}, 0)
			f.ForResource(podResource).Informer()
			f.StartWithContext(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, ctx context.Context) {
				for lists, want := range map[bool]map[string]int{true: {"list": 1, "watch": 1}, false: {"watchlist": 1}} {
					server := informertest.New(informertest.Options{})
					t.Cleanup(server.Close)
					require.NoError(t, server.StartInMemory())
					run(t, ctx, server.ClientConfig(), willing{lists})
					synctest.Wait()
					require.Equal(t, want, server.Counts())
				}
			})
		})
	}
}
