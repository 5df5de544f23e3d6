package factory_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	metadatafake "k8s.io/client-go/metadata/fake"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/factory/dynamicinformer"
	"github.com/tidemark-k8s/tidemark/factory/informers"
	"github.com/tidemark-k8s/tidemark/factory/metadatainformer"
	"github.com/tidemark-k8s/tidemark/informer/cache"
)

// A program for client-go's factory changes the imports of informers and cache, and nothing else.
// Package factory recognizes the result as a factory of its own.
func Example_informers() {
	client := fake.NewClientset(examplePod("prod", "web", nil))
	f := informers.NewSharedInformerFactoryWithOptions(client, 10*time.Minute, informers.WithNamespace("prod"))
	pods := f.Core().V1().Pods()
	added, err := pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { fmt.Println("added", obj.(*corev1.Pod).Name) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	ctx, cancel := context.WithCancel(context.Background())
	f.StartWithContext(ctx)
	cache.WaitForCacheSync(ctx.Done(), added.HasSynced)
	web, err := pods.Lister().Pods("prod").Get("web")
	fmt.Println("found", web.Name, err)

	typed, err := factory.For[*corev1.Pod](f.(*factory.Factory))
	fmt.Println("objects:", typed.Status().Objects, err)
	cancel()
	f.Shutdown()
	// Output:
	// added web
	// found web <nil>
	// objects: 1 <nil>
}

// A program for client-go's dynamic factory changes this import and nothing else.
func Example_dynamicinformer() {
	client := dynamicfake.NewSimpleDynamicClient(scheme.Scheme, examplePod("prod", "web", nil), examplePod("test", "web", nil))
	f := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, "prod", func(*metav1.ListOptions) {})
	pods := f.ForResource(corev1.SchemeGroupVersion.WithResource("pods"))

	ctx, cancel := context.WithCancel(context.Background())
	f.Start(ctx.Done())
	f.WaitForCacheSync(ctx.Done())
	web, err := pods.Lister().ByNamespace("prod").Get("web")
	fmt.Printf("%T %v\n", web, err)

	typed, err := f.(*factory.DynamicFactory).For(corev1.SchemeGroupVersion.WithResource("pods"))
	fmt.Println("objects:", typed.Status().Objects, err)
	cancel()
	f.Shutdown()
	// Output:
	// *unstructured.Unstructured <nil>
	// objects: 1 <nil>
}

// The caller runs an informer that belongs to no factory.
func Example_newFilteredDynamicInformer() {
	client := dynamicfake.NewSimpleDynamicClient(scheme.Scheme, examplePod("prod", "web", nil), examplePod("test", "web", nil))
	byName := func(obj any) ([]string, error) { return []string{obj.(metav1.Object).GetName()}, nil }
	pods := dynamicinformer.NewFilteredDynamicInformer(client, corev1.SchemeGroupVersion.WithResource("pods"), metav1.NamespaceAll, 0, cache.Indexers{"name": byName}, nil)

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

// metadataOfTwoPods returns a client of a server with two pods.
func metadataOfTwoPods() *metadatafake.FakeMetadataClient {
	scheme := metadatafake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		panic(err)
	}
	return metadatafake.NewSimpleMetadataClient(scheme, metadataOfPod("prod", "web"), metadataOfPod("test", "web"))
}

func metadataOfPod(namespace, name string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
	}
}

// A program for client-go's metadata factory changes this import and nothing else.
func Example_metadatainformer() {
	f := metadatainformer.NewSharedInformerFactoryWithOptions(metadataOfTwoPods(), 0, metadatainformer.WithTransform(func(obj any) (any, error) {
		obj.(metav1.Object).SetAnnotations(map[string]string{"seen": "yes"})
		return obj, nil
	}))
	pods := f.ForResource(corev1.SchemeGroupVersion.WithResource("pods"))

	ctx, cancel := context.WithCancel(context.Background())
	f.Start(ctx.Done())
	f.WaitForCacheSync(ctx.Done())
	web, err := pods.Lister().ByNamespace("prod").Get("web")
	fmt.Println(web.(*metav1.PartialObjectMetadata).Annotations["seen"], err)

	typed, err := f.(*factory.MetadataFactory).For(corev1.SchemeGroupVersion.WithResource("pods"))
	fmt.Println("objects:", typed.Status().Objects, err)
	cancel()
	f.Shutdown()
	// Output:
	// yes <nil>
	// objects: 2 <nil>
}

// The caller runs an informer that belongs to no factory.
func Example_newFilteredMetadataInformer() {
	byName := func(obj any) ([]string, error) { return []string{obj.(metav1.Object).GetName()}, nil }
	pods := metadatainformer.NewFilteredMetadataInformer(metadataOfTwoPods(), corev1.SchemeGroupVersion.WithResource("pods"), "prod", 0, cache.Indexers{"name": byName}, nil)

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
	// Output: 1 <nil>
}
