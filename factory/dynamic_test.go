package factory

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/scheme"
	metadatafake "k8s.io/client-go/metadata/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
)

var (
	podResource  = corev1.SchemeGroupVersion.WithResource("pods")
	nodeResource = corev1.SchemeGroupVersion.WithResource("nodes")
)

// untyped are the methods shared by the dynamic and the metadata factory.
type untyped interface {
	StartWithContext(context.Context)
	Start(<-chan struct{})
	Shutdown()
	SetTransform(cache.TransformFunc)
	ForResource(schema.GroupVersionResource) informers.GenericInformer
	WaitForCacheSync(<-chan struct{}) map[schema.GroupVersionResource]bool
}

func partial(namespace, name string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
	}
}

// untypedFactories runs a test with both factories, over two pods. The tweak is called for each
// request.
func untypedFactories(t *testing.T, test func(t *testing.T, ctx context.Context, make func(namespace string, tweak func(*metav1.ListOptions)) untyped, create func(name string) error)) {
	t.Run("dynamic", func(t *testing.T) {
		bubble(t, func(t *testing.T, ctx context.Context) {
			client := dynamicfake.NewSimpleDynamicClient(scheme.Scheme, newPod("prod", "web"), newPod("test", "web"))
			test(t, ctx, func(namespace string, tweak func(*metav1.ListOptions)) untyped {
				return NewFilteredDynamicSharedInformerFactory(client, time.Minute, namespace, tweak)
			}, func(name string) error {
				obj := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": name, "namespace": "prod"}}}
				_, err := client.Resource(podResource).Namespace("prod").Create(ctx, obj, metav1.CreateOptions{})
				return err
			})
		})
	})
	t.Run("metadata", func(t *testing.T) {
		bubble(t, func(t *testing.T, ctx context.Context) {
			client := metadatafake.NewSimpleMetadataClient(withMeta(t), partial("prod", "web"), partial("test", "web"))
			test(t, ctx, func(namespace string, tweak func(*metav1.ListOptions)) untyped {
				return NewFilteredMetadataSharedInformerFactory(client, time.Minute, namespace, tweak)
			}, func(name string) error {
				return client.Tracker().Create(podResource, partial("prod", name), "prod")
			})
		})
	})
}

// The dynamic and the metadata factory have one informer for each resource, and the typed
// factory's lifecycle.
func TestContract_B104_UntypedByResource(t *testing.T) {
	untypedFactories(t, func(t *testing.T, ctx context.Context, factory func(string, func(*metav1.ListOptions)) untyped, create func(string) error) {
		f := factory("", nil)
		pods := f.ForResource(podResource)
		require.Same(t, pods.Informer(), f.ForResource(podResource).Informer())
		require.Empty(t, f.WaitForCacheSync(ctx.Done()))
		var recorded []string
		updates := 0
		_, err := pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) {
				recorded = append(recorded, obj.(metav1.Object).GetNamespace()+"/"+obj.(metav1.Object).GetName())
			},
			UpdateFunc: func(any, any) { updates++ },
		})
		require.NoError(t, err)
		run, end := context.WithCancel(ctx)
		f.Start(run.Done())
		synctest.Wait()
		require.NotSame(t, pods.Informer(), f.ForResource(nodeResource).Informer())
		require.Equal(t, map[schema.GroupVersionResource]bool{podResource: true}, f.WaitForCacheSync(ctx.Done()))
		require.ElementsMatch(t, []string{"prod/web", "test/web"}, recorded)
		require.NoError(t, create("new"))
		synctest.Wait()
		require.Equal(t, "prod/new", recorded[2])

		found, err := pods.Lister().ByNamespace("prod").List(labels.Everything())
		require.NoError(t, err)
		require.Len(t, found, 2)
		_, err = pods.Lister().ByNamespace("prod").Get("nobody")
		require.EqualError(t, err, `pods "nobody" not found`)
		require.Len(t, pods.Informer().GetIndexer().GetIndexers(), 1)
		time.Sleep(90 * time.Second)
		synctest.Wait()
		require.Equal(t, 3, updates, "a resync")

		begin(t, run, f)
		require.Len(t, f.WaitForCacheSync(ctx.Done()), 2)
		end()
		f.Shutdown()
		require.True(t, pods.Informer().IsStopped())
		late := f.ForResource(podResource.GroupVersion().WithResource("services"))
		begin(t, ctx, f)
		require.False(t, late.Informer().HasSynced(), "the factory is down")
	})
}

func TestContract_B108_UntypedOptions(t *testing.T) {
	untypedFactories(t, func(t *testing.T, ctx context.Context, factory func(string, func(*metav1.ListOptions)) untyped, _ func(string) error) {
		var tweaked atomic.Int32
		f := factory("test", func(*metav1.ListOptions) { tweaked.Add(1) })
		plain := f.ForResource(podResource)
		f.SetTransform(func(obj any) (any, error) { return newNode("none of that"), nil })
		transformed := f.ForResource(nodeResource)
		var recorded []error
		require.NoError(t, transformed.Informer().SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) { recorded = append(recorded, err) }))
		begin(t, ctx, f)
		require.Equal(t, []string{"test/web"}, plain.Informer().GetStore().ListKeys())
		require.Equal(t, 4, int(tweaked.Load()), "two lists and two watches")
		require.True(t, transformed.Informer().HasSynced())
		require.Empty(t, recorded, "there are no nodes")
	})
}

func TestUntypedTransform(t *testing.T) {
	untypedFactories(t, func(t *testing.T, ctx context.Context, factory func(string, func(*metav1.ListOptions)) untyped, _ func(string) error) {
		f := factory("", nil)
		f.SetTransform(func(obj any) (any, error) {
			if m := obj.(metav1.Object); m.GetNamespace() == "prod" {
				m.SetLabels(map[string]string{"seen": "yes"})
				return obj, nil
			}
			return newNode("none of that"), nil
		})
		pods := f.ForResource(podResource).Informer()
		var recorded []error
		require.NoError(t, pods.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) { recorded = append(recorded, err) }))
		begin(t, ctx, f)
		require.True(t, pods.HasSynced())
		require.Equal(t, []string{"prod/web"}, pods.GetStore().ListKeys())
		require.Equal(t, "yes", pods.GetStore().List()[0].(metav1.Object).GetLabels()["seen"])
		require.Len(t, recorded, 1)
		require.ErrorIs(t, recorded[0], informer.ErrType)
	})
}

func TestUntypedWithoutNamespace(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		dynamics := NewDynamicSharedInformerFactory(dynamicfake.NewSimpleDynamicClient(scheme.Scheme, newPod("a", "x"), newPod("b", "x")), 0)
		metadatas := NewMetadataSharedInformerFactory(metadatafake.NewSimpleMetadataClient(withMeta(t), partial("a", "x"), partial("b", "x")), 0)
		for _, f := range []untyped{dynamics, metadatas} {
			pods := f.ForResource(podResource)
			begin(t, ctx, f)
			require.Len(t, pods.Informer().GetStore().List(), 2)
		}
	})
}

func withMeta(t *testing.T) *runtime.Scheme {
	s := metadatafake.NewTestScheme()
	require.NoError(t, metav1.AddMetaToScheme(s))
	return s
}
