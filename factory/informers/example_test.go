package informers_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/factory/informers"
	"github.com/tidemark-k8s/tidemark/informer/cache"
)

// A program for client-go's factory changes the imports of informers and cache, and nothing else.
// Package factory recognizes the result as a factory of its own.
func Example() {
	client := fake.NewClientset(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "web"}})
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
