package factory

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	metadatafake "k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
)

func TestNewFilteredInformer(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		client := fake.NewClientset(newPod("prod", "web"), newPod("prod", "db"), newPod("test", "web"))
		byName := func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Name}, nil }
		pods := NewFilteredInformer[*corev1.Pod](client, "prod", time.Minute,
			cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc, "name": byName},
			func(o *metav1.ListOptions) { o.LabelSelector = "!hidden" })
		updates := 0
		_, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) { updates++ }})
		require.NoError(t, err)
		go pods.RunWithContext(ctx)
		time.Sleep(90 * time.Second)
		synctest.Wait()
		require.Len(t, pods.GetStore().List(), 2)
		require.Equal(t, 2, updates, "a resync")
		for name, want := range map[string]int{"name": 1, cache.NamespaceIndex: 2} {
			found, err := pods.GetIndexer().ByIndex(name, map[string]string{"name": "web", cache.NamespaceIndex: "prod"}[name])
			require.NoError(t, err)
			require.Len(t, found, want)
		}
		require.Contains(t, client.Actions()[0].(interface {
			GetListRestrictions() clienttesting.ListRestrictions
		}).GetListRestrictions().Labels.String(), "hidden")
	})
}

func TestNewFilteredInformerMisuse(t *testing.T) {
	unknown := NewFilteredInformer[*widget](fake.NewClientset(), "", 0, nil, nil)
	_, err := unknown.AddEventHandler(noop)
	require.ErrorIs(t, err, informer.ErrNoSource)
	nameless := NewFilteredInformer[*corev1.Pod](fake.NewClientset(), "", 0, cache.Indexers{"": nil}, nil)
	require.Len(t, nameless.GetIndexer().GetIndexers(), 1)
}

// The generic constructors replace the six that client-go generates for every kind: their options
// reach the requests, the indexes and the metrics.
func TestNewInformerWithOptionsOfEveryKind(t *testing.T) {
	name, err := cache.NewInformerName("TestNewInformerWithOptionsOfEveryKind")
	require.NoError(t, err)
	defer name.Release()
	published := publishedUnder(t, name)

	client, kinds := fake.NewClientset(), 0
	bubble(t, func(t *testing.T, ctx context.Context) {
		for _, k := range builtin() {
			i := unshared(k.object, client, metav1.NamespaceAll, internalinterfaces.InformerOptions{
				Indexers:         cache.Indexers{"none": func(any) ([]string, error) { return nil, nil }},
				InformerName:     name,
				TweakListOptions: func(o *metav1.ListOptions) { o.LabelSelector = "!hidden" },
			})
			require.Contains(t, i.GetIndexer().GetIndexers(), "none")
			go i.RunWithContext(ctx)
			kinds++
		}
		synctest.Wait()
	})
	require.Equal(t, 147, kinds)
	listed := make(map[string]int)
	for _, action := range client.Actions() {
		if list, ok := action.(clienttesting.ListAction); ok {
			require.Equal(t, "!hidden", list.GetListRestrictions().Labels.String())
			listed[action.GetResource().Resource]++
		}
	}
	require.Equal(t, listed, published(), "versions of each resource")
}

// An unshared informer holds the objects of one namespace selected by its tweak, has the given
// indexes, and lists by resource.
func TestUnsharedByResource(t *testing.T) {
	byName := cache.Indexers{"name": func(obj any) ([]string, error) { return []string{obj.(metav1.Object).GetName()}, nil }}
	check := func(t *testing.T, ctx context.Context, tweaked *int, i informers.GenericInformer) {
		go i.Informer().RunWithContext(ctx)
		synctest.Wait()
		require.True(t, i.Informer().HasSynced())
		require.Positive(t, *tweaked)
		found, err := i.Informer().GetIndexer().ByIndex("name", "web")
		require.NoError(t, err)
		require.Len(t, found, 1)
		web, err := i.Lister().ByNamespace("prod").Get("web")
		require.NoError(t, err)
		require.Equal(t, found[0], web)
		_, err = i.Lister().ByNamespace("test").Get("web")
		require.Error(t, err)
	}
	t.Run("dynamic", func(t *testing.T) {
		bubble(t, func(t *testing.T, ctx context.Context) {
			client := dynamicfake.NewSimpleDynamicClient(scheme.Scheme, newPod("prod", "web"), newPod("test", "web"))
			tweaked := 0
			check(t, ctx, &tweaked, NewFilteredDynamicInformer(client, podResource, "prod", 0, byName, func(*metav1.ListOptions) { tweaked++ }))
		})
	})
	t.Run("metadata", func(t *testing.T) {
		bubble(t, func(t *testing.T, ctx context.Context) {
			client := metadatafake.NewSimpleMetadataClient(withMeta(t), partial("prod", "web"), partial("test", "web"))
			tweaked := 0
			check(t, ctx, &tweaked, NewFilteredMetadataInformer(client, podResource, "prod", 0, byName, func(*metav1.ListOptions) { tweaked++ }))
		})
	})
}
