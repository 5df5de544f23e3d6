package informer_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// ownPods starts a server in memory and an informer of its pods whose program's own writes are shown.
func ownPods(ctx context.Context, own *reflector.OwnWrites) (client kubernetes.Interface, pods *informer.Informer[*corev1.Pod], end func(), err error) {
	server := informertest.New(informertest.Options{})
	if err := server.StartInMemory(); err != nil {
		return nil, nil, nil, err
	}
	config := server.ClientConfig()
	config.Wrap(own.Wire) // last
	client, err = kubernetes.NewForConfig(config)
	if err != nil {
		return nil, nil, nil, err
	}
	source := reflector.FromGenerated[*corev1.Pod](client.CoreV1().Pods(""), corev1.SchemeGroupVersion.WithResource("pods"))
	pods = informer.New(source, informer.Options[*corev1.Pod]{})
	ctx, cancel := context.WithCancel(ctx)
	wait, err := pods.Start(ctx)
	if err != nil {
		cancel()
		return nil, nil, nil, err
	}
	end = func() {
		cancel()
		_ = wait()
		server.Close()
	}
	err = pods.WaitSynced(ctx)
	return client, pods, end, err
}

// The store has a created object when Create returns, whatever the watch does.
func ExampleInformer_ownWrites() {
	ctx := context.Background()
	client, pods, end, err := ownPods(ctx, reflector.NewOwnWrites())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer end()
	_, err = client.CoreV1().Pods("prod").Create(ctx, examplePod("web-1"), metav1.CreateOptions{})
	fmt.Println("created:", err)
	p, err := pods.Lister().Namespace("prod").Get("web-1")
	fmt.Println("read:", p.Name, err)
	// Output:
	// created: <nil>
	// read: web-1 <nil>
}

// A controller's own updates need not wake it. It asks whose an update is when its own write has returned.
func ExampleStatus_ownWrites() {
	own, ctx := reflector.NewOwnWrites(), reflector.WithWriter(context.Background(), "labeller")
	client, pods, end, err := ownPods(ctx, own)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer end()
	updates := make(chan [2]*corev1.Pod, 1)
	_, err = pods.Handle(informer.Funcs[*corev1.Pod]{Updated: func(old, now *corev1.Pod) {
		updates <- [2]*corev1.Pod{old, now}
	}}, informer.HandlerOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	created, err := client.CoreV1().Pods("prod").Create(ctx, examplePod("web-1"), metav1.CreateOptions{})
	fmt.Println("created:", err)
	next := created.DeepCopy() // with its resourceVersion, which is the condition
	next.Labels["step"] = "1"
	_, err = client.CoreV1().Pods("prod").Update(ctx, next, metav1.UpdateOptions{})
	fmt.Println("updated:", err)
	update := <-updates
	fmt.Println("made by the labeller:", own.Made("labeller", update[0], update[1]))
	w := pods.Status().OwnWrites
	fmt.Println("linked:", w.Linked, "doubtful:", w.Doubtful)
	// Output:
	// created: <nil>
	// updated: <nil>
	// made by the labeller: true
	// linked: true doubtful: 0
}
