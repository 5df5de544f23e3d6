package informer_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/util/workqueue"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// A controller puts the keys of all objects, and then of those that change, into its work queue. Its workers
// read the objects from the store.
func ExampleInformer_HandleKeys() {
	client := fake.NewClientset(examplePod("web-1"))
	pods := informer.New(reflector.From(client.CoreV1().Pods("")), informer.Options[*corev1.Pod]{})
	queue := workqueue.NewTyped[indexer.Key]()
	defer queue.ShutDown()
	_, err := pods.HandleKeys(queue.Add, informer.HandlerOptions{Name: "controller"})
	if err != nil {
		fmt.Println(err)
		return
	}
	reconcile := func() {
		key, _ := queue.Get()
		defer queue.Done(key)
		if p, ok := pods.Indexer().Get(key); ok {
			fmt.Println(key, "is at step", p.Labels["step"])
		} else {
			fmt.Println(key, "is gone")
		}
	}

	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- pods.Run(ctx) }()
	reconcile()
	for !pods.Status().Watching { // a fake clientset's watch brings later events only
		time.Sleep(time.Millisecond)
	}
	changed := examplePod("web-1")
	changed.Labels["step"] = "1"
	_, _ = client.CoreV1().Pods("prod").Update(ctx, changed, metav1.UpdateOptions{})
	reconcile()
	_ = client.CoreV1().Pods("prod").Delete(ctx, "web-1", metav1.DeleteOptions{})
	reconcile()

	cancel()
	fmt.Println("ran:", <-done)
	// Output:
	// prod/web-1 is at step 0
	// prod/web-1 is at step 1
	// prod/web-1 is gone
	// ran: <nil>
}
