package informers

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/factory"
)

// Each option and argument reaches the factory.
func TestArguments(t *testing.T) {
	name, err := cache.NewInformerName("TestArguments")
	require.NoError(t, err)
	defer name.Release()
	untouched := metav1.ListOptions{LabelSelector: "!hidden"}
	options := []SharedInformerOption{
		WithNamespace("prod"),
		WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = untouched.LabelSelector }),
		WithTransform(func(obj any) (any, error) {
			obj.(metav1.Object).SetAnnotations(map[string]string{"seen": "yes"})
			return obj, nil
		}),
		WithCustomResyncConfig(map[metav1.Object]time.Duration{&corev1.Pod{}: time.Minute}),
		WithInformerName(name),
	}
	for title, make := range map[string]func(*fake.Clientset) (f SharedInformerFactory, resyncs int, seen string){
		"with options": func(c *fake.Clientset) (SharedInformerFactory, int, string) {
			return NewSharedInformerFactoryWithOptions(c, time.Hour, options...), 59, "yes"
		},
		"filtered": func(c *fake.Clientset) (SharedInformerFactory, int, string) {
			return NewFilteredSharedInformerFactory(c, 10*time.Minute, "prod", func(o *metav1.ListOptions) { o.LabelSelector = untouched.LabelSelector }), 5, ""
		},
	} {
		t.Run(title, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := fake.NewClientset(pod("prod", "web", ""), pod("prod", "db", "yes"), pod("test", "web", ""))
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
	f := NewSharedInformerFactoryWithOptions(nil, 0, WithInformerName(name))
	require.Same(t, name, f.InformerName())
	require.IsType(t, &factory.Factory{}, NewSharedInformerFactory(nil, 0))
}

func pod(namespace, name, hidden string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if hidden != "" {
		p.Labels = map[string]string{"hidden": hidden}
	}
	return p
}
