package dynamicinformer_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/factory/dynamicinformer"
)

var podResource = corev1.SchemeGroupVersion.WithResource("pods")

func podNamed(namespace, name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

// A program for client-go's dynamic factory changes this import and nothing else.
func Example() {
	client := fake.NewSimpleDynamicClient(scheme.Scheme, podNamed("prod", "web"), podNamed("test", "web"))
	f := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, "prod", func(*metav1.ListOptions) {})
	pods := f.ForResource(podResource)

	ctx, cancel := context.WithCancel(context.Background())
	f.Start(ctx.Done())
	f.WaitForCacheSync(ctx.Done())
	web, err := pods.Lister().ByNamespace("prod").Get("web")
	fmt.Printf("%T %v\n", web, err)

	typed, err := f.(*factory.DynamicFactory).For(podResource)
	fmt.Println("objects:", typed.Status().Objects, err)
	cancel()
	f.Shutdown()
	// Output:
	// *unstructured.Unstructured <nil>
	// objects: 1 <nil>
}

// The caller runs an informer that belongs to no factory.
func ExampleNewFilteredDynamicInformer() {
	client := fake.NewSimpleDynamicClient(scheme.Scheme, podNamed("prod", "web"), podNamed("test", "web"))
	byName := func(obj any) ([]string, error) { return []string{obj.(metav1.Object).GetName()}, nil }
	pods := dynamicinformer.NewFilteredDynamicInformer(client, podResource, metav1.NamespaceAll, 0, cache.Indexers{"name": byName}, nil)

	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		pods.Informer().RunWithContext(ctx)
	}()
	cache.WaitForCacheSync(ctx.Done(), pods.Informer().HasSynced)
	named, err := pods.Informer().GetIndexer().ByIndex("name", "web")
	fmt.Println(len(named), err)
	cancel()
	<-ended
	// Output: 2 <nil>
}
