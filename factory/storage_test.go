package factory_test

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// kindOfFactory is a typed, a dynamic or a metadata factory, with its informer of pods.
type kindOfFactory[T informer.Object] struct {
	started interface {
		StartWithContext(context.Context)
		Shutdown()
	}
	configure func(informer.Options[T]) error
	pods      func() (*informer.Informer[T], error)
	list      func(context.Context) ([]T, error) // asks the server
}

// set are the options of a factory.
type set struct {
	decoding reflector.Decoding
	storage  informer.Storage
}

func typedPods(t *testing.T, config *rest.Config, o set) kindOfFactory[*corev1.Pod] {
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	f := factory.NewSharedInformerFactoryWithOptions(client, 0, factory.WithDecoding(o.decoding), factory.WithStorage(o.storage))
	return kindOfFactory[*corev1.Pod]{
		f,
		func(o informer.Options[*corev1.Pod]) error { return factory.Configure(f, o) },
		func() (*informer.Informer[*corev1.Pod], error) { return factory.For[*corev1.Pod](f) },
		func(ctx context.Context) ([]*corev1.Pod, error) {
			list, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
			return pointers(list.Items), err
		},
	}
}

func dynamicPods(t *testing.T, config *rest.Config, o set) kindOfFactory[*unstructured.Unstructured] {
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	f := factory.NewDynamicSharedInformerFactory(client, 0)
	f.SetDecoding(o.decoding)
	f.SetStorage(o.storage)
	return kindOfFactory[*unstructured.Unstructured]{
		f,
		func(o informer.Options[*unstructured.Unstructured]) error { return f.Configure(pods, o) },
		func() (*informer.Informer[*unstructured.Unstructured], error) { return f.For(pods) },
		func(ctx context.Context) ([]*unstructured.Unstructured, error) {
			list, err := client.Resource(pods).List(ctx, metav1.ListOptions{})
			return pointers(list.Items), err
		},
	}
}

func metadataOfPods(t *testing.T, config *rest.Config, o set) kindOfFactory[*metav1.PartialObjectMetadata] {
	client, err := metadata.NewForConfig(config)
	require.NoError(t, err)
	f := factory.NewMetadataSharedInformerFactory(client, 0)
	f.SetDecoding(o.decoding)
	f.SetStorage(o.storage)
	return kindOfFactory[*metav1.PartialObjectMetadata]{
		f,
		func(o informer.Options[*metav1.PartialObjectMetadata]) error { return f.Configure(pods, o) },
		func() (*informer.Informer[*metav1.PartialObjectMetadata], error) { return f.For(pods) },
		func(ctx context.Context) ([]*metav1.PartialObjectMetadata, error) {
			list, err := client.Resource(pods).List(ctx, metav1.ListOptions{})
			return pointers(list.Items), err
		},
	}
}

func pointers[T any](items []T) (all []*T) {
	for n := range items {
		all = append(all, &items[n])
	}
	return all
}

// synced starts a factory, and returns its informer of pods.
func synced[T informer.Object](t *testing.T, f kindOfFactory[T]) *informer.Informer[T] {
	t.Helper()
	i, err := f.pods()
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	f.started.StartWithContext(ctx)
	t.Cleanup(func() {
		cancel()
		f.started.Shutdown()
	})
	require.NoError(t, i.WaitSynced(ctx))
	return i
}

// decoded returns a Storage with a budget of its own.
func decoded(bytes int64) informer.Storage {
	return informer.Storage{Decoded: informer.NewBudget(bytes)}
}

// The informers of all factories hold their objects packed, as the server's bytes say in protobuf and in JSON,
// and with a client that decodes.
func TestWithStorage(t *testing.T) {
	for _, content := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		for _, wire := range []bool{false, true} {
			for _, budget := range []int64{0, 10 << 10} {
				packed := set{storage: decoded(budget)}
				serves := func(t *testing.T) (*informertest.Server, *rest.Config) {
					var names []string
					for n := range 30 {
						names = append(names, fmt.Sprint("web-", n))
					}
					server, config := serves(t, names...)
					config.ContentType = content
					if wire {
						config.Wrap(reflector.Wire)
					}
					return server, config
				}
				t.Run(fmt.Sprintf("%s, wire %v, budget %d", content, wire, budget), func(t *testing.T) {
					t.Run("typed", func(t *testing.T) {
						server, config := serves(t)
						packs(t, server, typedPods(t, config, packed))
					})
					t.Run("dynamic", func(t *testing.T) {
						server, config := serves(t)
						packs(t, server, dynamicPods(t, config, packed))
					})
					t.Run("metadata", func(t *testing.T) {
						server, config := serves(t)
						packs(t, server, metadataOfPods(t, config, packed))
					})
				})
			}
		}
	}
}

func packs[T informer.Object](t *testing.T, server *informertest.Server, f kindOfFactory[T]) {
	i := synced(t, f)
	require.NoError(t, server.Update(t.Context(), limited("web-3", "200m")))
	require.NoError(t, server.Delete(t.Context(), limited("web-4", "100m")))
	require.NoError(t, i.WaitFresh(t.Context()))
	live, err := f.list(t.Context())
	require.NoError(t, err)
	require.Len(t, live, i.Indexer().Len())
	for _, want := range live {
		got, ok := i.Indexer().Get(indexer.Key{Namespace: want.GetNamespace(), Name: want.GetName()})
		require.True(t, ok)
		require.Equal(t, want, got)
	}
	s := i.Status().Storage
	require.Zero(t, s.Pinned)
	require.NotZero(t, s.Packed)
	require.NotZero(t, s.Decodes)
}

// A type whose options say nothing of the storage, or of the decoding, has the factory's. Each counts for itself.
func TestConfigureKeepsTheFactorysStorage(t *testing.T) {
	for name, row := range map[string]struct{ storage, decoding bool }{
		"neither": {}, "a storage": {storage: true}, "a decoding": {decoding: true}, "both": {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Run("typed", func(t *testing.T) { keeps(t, typedPods, row.storage, row.decoding) })
			t.Run("dynamic", func(t *testing.T) { keeps(t, dynamicPods, row.storage, row.decoding) })
			t.Run("metadata", func(t *testing.T) { keeps(t, metadataOfPods, row.storage, row.decoding) })
		})
	}
}

func keeps[T informer.Object](t *testing.T, with func(*testing.T, *rest.Config, set) kindOfFactory[T], storage, decoding bool) {
	_, config := serves(t, "a", "b")
	shared, own := decoded(math.MaxInt64), decoded(math.MaxInt64)
	f := with(t, config, set{reflector.Decoding{Drop: []string{"metadata.labels"}}, shared})
	o := informer.Options[T]{PageSize: 10}
	if storage {
		o.Storage = own
	}
	if decoding {
		o.Drop = []string{"metadata.annotations"}
	}
	require.NoError(t, f.configure(o))
	got, ok := synced(t, f).Indexer().Get(indexer.Key{Namespace: "default", Name: "a"})
	require.True(t, ok)
	require.Equal(t, storage, own.Decoded.Used() > 0)
	require.Equal(t, !storage, shared.Decoded.Used() > 0)
	require.Equal(t, decoding, got.GetLabels() != nil)
	require.Equal(t, !decoding, got.GetAnnotations() != nil)
}

// A kind whose options say so is not packed, though its factory packs.
func TestAKindStaysUnpacked(t *testing.T) {
	config, of := &rest.Config{Host: "127.0.0.1:1"}, set{storage: decoded(1 << 20)}
	t.Run("typed", func(t *testing.T) { unpacked(t, typedPods(t, config, of)) })
	t.Run("dynamic", func(t *testing.T) { unpacked(t, dynamicPods(t, config, of)) })
	t.Run("metadata", func(t *testing.T) { unpacked(t, metadataOfPods(t, config, of)) })
}

func unpacked[T informer.Object](t *testing.T, f kindOfFactory[T]) {
	require.NoError(t, f.configure(informer.Options[T]{Storage: informer.Storage{Unpacked: true}}))
	i, err := f.pods()
	require.NoError(t, err)
	require.Zero(t, i.Status().Storage)
}

// Secrets are packed only if their own options say so.
func TestSecretsAreNotPacked(t *testing.T) {
	shared, secrets := decoded(1<<20), corev1.SchemeGroupVersion.WithResource("secrets")
	own := decoded(1 << 20)
	client := fake.NewClientset()
	f := factory.NewSharedInformerFactoryWithOptions(client, 0, factory.WithStorage(shared))
	typed, err := factory.For[*corev1.Secret](f)
	require.NoError(t, err)
	require.Nil(t, typed.Status().Storage.Budget)
	others, err := factory.For[*corev1.ConfigMap](f)
	require.NoError(t, err)
	require.Same(t, shared.Decoded, others.Status().Storage.Budget)

	d := factory.NewDynamicSharedInformerFactory(dynamicfake.NewSimpleDynamicClient(scheme.Scheme), 0)
	d.SetStorage(shared)
	dynamic, err := d.For(secrets)
	require.NoError(t, err)
	require.Nil(t, dynamic.Status().Storage.Budget)

	f = factory.NewSharedInformerFactoryWithOptions(client, 0, factory.WithStorage(shared))
	require.NoError(t, factory.Configure(f, informer.Options[*corev1.Secret]{Storage: own}))
	typed, err = factory.For[*corev1.Secret](f)
	require.NoError(t, err)
	require.Same(t, own.Decoded, typed.Status().Storage.Budget)
}

// An informer that packs what its client has decoded reports once that Wire would spare that. A generated client's
// answers are decoded here.
func TestAPackedInformerWithoutWire(t *testing.T) {
	for name, row := range map[string]struct {
		packed, wire bool
		reports      int32
	}{
		"packed": {true, false, 1}, "packed, with Wire": {true, true, 0}, "decoded": {false, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			_, config := serves(t, "a", "b")
			if row.wire {
				config.Wrap(reflector.Wire)
			}
			of := set{}
			if row.packed {
				of.storage = decoded(0)
			}
			reports(t, typedPods(t, config, of), 0)
			reports(t, dynamicPods(t, config, of), row.reports)
			reports(t, metadataOfPods(t, config, of), row.reports)
		})
	}
	d := factory.NewDynamicSharedInformerFactory(dynamicfake.NewSimpleDynamicClient(scheme.Scheme), 0)
	d.SetStorage(decoded(0))
	reports(t, kindOfFactory[*unstructured.Unstructured]{
		started:   d,
		configure: func(o informer.Options[*unstructured.Unstructured]) error { return d.Configure(pods, o) },
		pods:      func() (*informer.Informer[*unstructured.Unstructured], error) { return d.For(pods) },
	}, 0) // no Wire helps a fake
}

func reports[T informer.Object](t *testing.T, f kindOfFactory[T], want int32) {
	var recorded atomic.Int32
	require.NoError(t, f.configure(informer.Options[T]{Observe: func(e informer.Event) {
		if _, ok := e.(reflector.ClientDecoded); ok {
			recorded.Add(1)
		}
	}}))
	synced(t, f)
	require.Equal(t, want, recorded.Load())
}

// A negative budget is reported by the informer, as other options that are not valid.
func TestANegativeBudget(t *testing.T) {
	config, of := &rest.Config{Host: "127.0.0.1:1"}, set{storage: decoded(-1)}
	t.Run("typed", func(t *testing.T) { negative(t, typedPods(t, config, of)) })
	t.Run("dynamic", func(t *testing.T) { negative(t, dynamicPods(t, config, of)) })
	t.Run("metadata", func(t *testing.T) { negative(t, metadataOfPods(t, config, of)) })
}

func negative[T informer.Object](t *testing.T, f kindOfFactory[T]) {
	i, err := f.pods()
	require.NoError(t, err)
	require.ErrorIs(t, i.WaitSynced(t.Context()), informer.ErrOutOfRange)
	require.ErrorIs(t, i.Run(t.Context()), informer.ErrOutOfRange)
}
