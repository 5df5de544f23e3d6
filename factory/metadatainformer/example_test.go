package metadatainformer_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/factory/metadatainformer"
)

var podResource = corev1.SchemeGroupVersion.WithResource("pods")

// newClient returns a client of a server with two pods.
func newClient() *fake.FakeMetadataClient {
	scheme := fake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		panic(err)
	}
	return fake.NewSimpleMetadataClient(scheme, podNamed("prod", "web"), podNamed("test", "web"))
}

func podNamed(namespace, name string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
	}
}

// A program for client-go's metadata factory changes this import and nothing else.
func Example() {
	f := metadatainformer.NewSharedInformerFactoryWithOptions(newClient(), 0, metadatainformer.WithTransform(func(obj any) (any, error) {
		obj.(metav1.Object).SetAnnotations(map[string]string{"seen": "yes"})
		return obj, nil
	}))
	pods := f.ForResource(podResource)

	ctx, cancel := context.WithCancel(context.Background())
	f.Start(ctx.Done())
	f.WaitForCacheSync(ctx.Done())
	web, err := pods.Lister().ByNamespace("prod").Get("web")
	fmt.Println(web.(*metav1.PartialObjectMetadata).Annotations["seen"], err)

	typed, err := f.(*factory.MetadataFactory).For(podResource)
	fmt.Println("objects:", typed.Status().Objects, err)
	cancel()
	f.Shutdown()
	// Output:
	// yes <nil>
	// objects: 2 <nil>
}

// The caller runs an informer that belongs to no factory.
func ExampleNewFilteredMetadataInformer() {
	byName := func(obj any) ([]string, error) { return []string{obj.(metav1.Object).GetName()}, nil }
	pods := metadatainformer.NewFilteredMetadataInformer(newClient(), podResource, "prod", 0, cache.Indexers{"name": byName}, nil)

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
