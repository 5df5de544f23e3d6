package factory_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/factory/dynamicinformer"
	"github.com/tidemark-k8s/tidemark/factory/informers"
	"github.com/tidemark-k8s/tidemark/factory/metadatainformer"
)

// Each option and argument of client-go's names reaches the factory.
func TestArgumentsOfClientGosNames(t *testing.T) {
	name, err := cache.NewInformerName("TestArgumentsOfClientGosNames")
	require.NoError(t, err)
	defer name.Release()
	untouched := metav1.ListOptions{LabelSelector: "!hidden"}
	options := []informers.SharedInformerOption{
		informers.WithNamespace("prod"),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = untouched.LabelSelector }),
		informers.WithTransform(func(obj any) (any, error) {
			obj.(metav1.Object).SetAnnotations(map[string]string{"seen": "yes"})
			return obj, nil
		}),
		informers.WithCustomResyncConfig(map[metav1.Object]time.Duration{&corev1.Pod{}: time.Minute}),
		informers.WithInformerName(name),
	}
	for title, make := range map[string]func(*fake.Clientset) (f informers.SharedInformerFactory, resyncs int, seen string){
		"with options": func(c *fake.Clientset) (informers.SharedInformerFactory, int, string) {
			return informers.NewSharedInformerFactoryWithOptions(c, time.Hour, options...), 59, "yes"
		},
		"filtered": func(c *fake.Clientset) (informers.SharedInformerFactory, int, string) {
			return informers.NewFilteredSharedInformerFactory(c, 10*time.Minute, "prod", func(o *metav1.ListOptions) { o.LabelSelector = untouched.LabelSelector }), 5, ""
		},
	} {
		t.Run(title, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := fake.NewClientset(examplePod("prod", "web", nil), examplePod("prod", "db", labels.Set{"hidden": "yes"}), examplePod("test", "web", nil))
				f, resyncs, seen := make(client)
				updates := 0
				_, err := f.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) { updates++ }})
				require.NoError(t, err)
				stop := t.Context().Done()
				f.Start(stop)
				time.Sleep(time.Hour - time.Second)
				synctest.Wait()
				require.Equal(t, resyncs, updates, "resyncs")
				objects := f.Core().V1().Pods().Informer().GetStore().List()
				require.Len(t, objects, 1)
				require.Equal(t, seen, objects[0].(*corev1.Pod).Annotations["seen"])
				require.Equal(t, "prod", client.Actions()[0].GetNamespace())
			})
		})
	}
	f := informers.NewSharedInformerFactoryWithOptions(nil, 0, informers.WithInformerName(name))
	require.Same(t, name, f.InformerName())
}

// The constructors with client-go's names make factories of this module.
func TestFactoriesOfClientGosNamesAreOurs(t *testing.T) {
	require.IsType(t, &factory.Factory{}, informers.NewSharedInformerFactory(nil, 0))
	require.IsType(t, &factory.DynamicFactory{}, dynamicinformer.NewDynamicSharedInformerFactory(nil, 0))
	require.IsType(t, &factory.DynamicFactory{}, dynamicinformer.NewFilteredDynamicSharedInformerFactory(nil, 0, "", nil))
	require.IsType(t, &factory.MetadataFactory{}, metadatainformer.NewSharedInformerFactory(nil, 0))
	require.IsType(t, &factory.MetadataFactory{}, metadatainformer.NewFilteredSharedInformerFactory(nil, 0, "", nil))
	require.IsType(t, &factory.MetadataFactory{}, metadatainformer.NewSharedInformerFactoryWithOptions(nil, 0))
}
