package informertest_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// A controller that uses client-go's informers needs no change for the test. This one labels each pod, and
// the test checks the requests that it has sent.
func Example_clientGo() {
	server := informertest.New(informertest.Options{})
	defer server.Close()
	if err := server.StartInMemory(); err != nil {
		fmt.Println(err)
		return
	}
	client, err := kubernetes.NewForConfig(server.ClientConfig())
	if err != nil {
		fmt.Println(err)
		return
	}

	ctx, cancel := context.WithCancel(context.Background())
	factory := informers.NewSharedInformerFactory(client, 0)
	defer factory.Shutdown()
	defer cancel()
	seen := make(chan error)
	_, err = factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		pod := obj.(*corev1.Pod)
		label := applycorev1.Pod(pod.Name, pod.Namespace).WithLabels(map[string]string{"seen": "true"})
		_, err := client.CoreV1().Pods(pod.Namespace).Apply(ctx, label, metav1.ApplyOptions{FieldManager: "labeller"})
		seen <- err
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	factory.Start(ctx.Done())

	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "web"}}
	if err := server.Create(ctx, pod); err != nil {
		fmt.Println(err)
		return
	}
	if err := <-seen; err != nil {
		fmt.Println(err)
		return
	}
	for _, request := range server.Requests().Of(informertest.Request{Verb: "patch"}) {
		fmt.Println(request.Resource, request.Namespace+"/"+request.Name, request.Body)
	}
	// Output: pods prod/web {"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","namespace":"prod","labels":{"seen":"true"}}}
}
