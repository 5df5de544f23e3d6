package factory_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/lister"
)

// evict is the code under test: it deletes the pods of an app, found by a lister.
func evict(ctx context.Context, client kubernetes.Interface, pods lister.Lister[*corev1.Pod], app string) error {
	found, err := pods.List(labels.SelectorFromSet(labels.Set{"app": app}))
	if err != nil {
		return err
	}
	for _, pod := range found {
		if err := client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// A unit test of code that reads from a lister and writes to a client: both use the same fake
// clientset.
func Example_unitTest() {
	client := fake.NewClientset(examplePod("prod", "web", labels.Set{"app": "shop"}), examplePod("prod", "db", nil))
	f := factory.NewSharedInformerFactory(client, 0)
	pods, err := factory.For[*corev1.Pod](f)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background()) // in a test, t.Context()
	f.StartWithContext(ctx)
	f.WaitForCacheSync(ctx.Done())

	if err := evict(ctx, client, pods.Lister(), "shop"); err != nil {
		fmt.Println(err)
	}
	for _, action := range client.Actions() {
		if action.GetVerb() == "delete" {
			fmt.Println(action.GetVerb(), action.GetResource().Resource, "in", action.GetNamespace())
		}
	}
	cancel()
	f.Shutdown()
	// Output: delete pods in prod
}

// A unit test without any server: the test fills the store, and starts nothing.
func Example_unitTestByHand() {
	f := factory.NewSharedInformerFactory(nil, 0)
	pods := f.Core().V1().Pods()
	if err := pods.Informer().GetIndexer().Add(examplePod("prod", "web", nil)); err != nil {
		fmt.Println(err)
	}
	web, err := pods.Lister().Pods("prod").Get("web")
	fmt.Println(web.Name, err)
	// Output: web <nil>
}
