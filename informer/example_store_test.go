package informer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// An index finds objects by a value, here pods by their node. It can be added at any time, also to
// an informer that a factory made.
func ExampleInformer_AddIndexes() {
	placed := func(name, node string) *corev1.Pod {
		pod := examplePod(name)
		pod.Spec.NodeName = node
		return pod
	}
	client := fake.NewClientset(placed("web-1", "n1"), placed("web-2", "n2"), placed("web-3", "n1"))
	pods := informer.New(reflector.From(client.CoreV1().Pods("")), informer.Options[*corev1.Pod]{})
	err := pods.AddIndexes(indexer.Index[*corev1.Pod]{Name: "node", Append: func(values []string, p *corev1.Pod) []string {
		return append(values, p.Spec.NodeName)
	}})
	if err != nil {
		fmt.Println(err)
		return
	}

	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- pods.Run(ctx) }()
	if err := pods.WaitSynced(ctx); err != nil {
		fmt.Println(err)
	}
	var names []string
	for p := range pods.Indexer().By("node", "n1") { // no copy is made, and no lock is held
		names = append(names, p.Name)
	}
	slices.Sort(names) // the order is not promised
	fmt.Println("on n1:", names)

	cancel()
	fmt.Println(<-done)
	// Output:
	// on n1: [web-1 web-3]
	// <nil>
}

// WaitSynced returns why the store is not complete: the cause of the end of the wait, and the last
// error of the server.
func ExampleInformer_WaitSynced() {
	pods := informer.New(reflector.From(unreachable{}), informer.Options[*corev1.Pod]{
		Name:    "pods",
		Observe: func(informer.Event) {}, // instead of the log
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- pods.Run(ctx) }()

	patient, stop := context.WithTimeout(ctx, 50*time.Millisecond)
	defer stop()
	err := pods.WaitSynced(patient)
	fmt.Println(errors.Is(err, informer.ErrNotSynced), errors.Is(err, context.DeadlineExceeded))
	fmt.Println(err)

	cancel()
	fmt.Println(<-done)
	// Output:
	// true true
	// informer pods: the informer is not synced: context deadline exceeded; last error: list pods: dial tcp 10.0.0.1:443: no route to host
	// <nil>
}

// After a write, WaitFor waits until the store shows the write. Without this wait, a controller
// may read an old version and repeat its write.
func ExampleInformer_WaitFor() {
	server := informertest.New(informertest.Options{}) // stands for a cluster
	defer server.Close()
	pods := informer.New(server.Source(corev1.SchemeGroupVersion.WithResource("pods"), ""), informer.Options[*corev1.Pod]{})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- pods.Run(ctx) }()
	if err := pods.WaitSynced(ctx); err != nil {
		fmt.Println(err)
	}

	written := examplePod("web-1") // a client returns what it wrote
	if err := server.Create(ctx, written); err != nil {
		fmt.Println(err)
	}
	if err := pods.WaitFor(ctx, written); err != nil {
		fmt.Println(err)
	}
	_, err := pods.Lister().Namespace("prod").Get("web-1")
	fmt.Println("read:", err)

	cancel()
	fmt.Println(<-done)
	// Output:
	// read: <nil>
	// <nil>
}

// A transform removes the fields that no reader needs before an object is stored.
func ExampleOptions_transform() {
	pod := examplePod("web-1")
	pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl", Operation: metav1.ManagedFieldsOperationApply}}
	pods := informer.New(reflector.From(fake.NewClientset(pod).CoreV1().Pods("")), informer.Options[*corev1.Pod]{
		Transform: func(p *corev1.Pod) (*corev1.Pod, error) {
			p.ManagedFields = nil // often half of an object
			p.Spec = corev1.PodSpec{NodeName: p.Spec.NodeName}
			return p, nil
		},
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- pods.Run(ctx) }()
	if err := pods.WaitSynced(ctx); err != nil {
		fmt.Println(err)
	}
	for p := range pods.Indexer().All() {
		fmt.Println(p.Name, len(p.ManagedFields))
	}

	cancel()
	fmt.Println(<-done)
	// Output:
	// web-1 0
	// <nil>
}
