package reflector_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// A wrapper copies a source and replaces fields. This one counts the lists.
func ExampleSource() {
	lists := 0
	counted := func(pods reflector.Source) reflector.Source {
		list := pods.List
		pods.List = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			lists++
			return list(ctx, o)
		}
		pods.Send = nil // so that the reflector calls List
		return pods
	}
	client := fake.NewClientset(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}})
	pods := counted(reflector.From(client.CoreV1().Pods("shop")))

	list, err := pods.List(context.Background(), metav1.ListOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(list.(*corev1.PodList).Items), "pod in", pods.Namespace+",", lists, "list")
	// Output: 1 pod in shop, 1 list
}

// The sources of this client do not decode, when they list again, what the
// informers have already.
func ExampleWire() {
	config := &rest.Config{Host: "https://127.0.0.1:6443"} // or that of your cluster
	config.ContentType = runtime.ContentTypeProtobuf
	config.Wrap(reflector.Wire)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	pods := reflector.From(client.CoreV1().Pods(""))
	fmt.Println("streams:", pods.Streams == reflector.StreamingSupported)
	// Output: streams: true
}
