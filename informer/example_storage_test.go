package informer_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// An informer with a budget holds its objects packed, and also keeps as many decoded as fit into the budget. With a
// budget of 0 every read decodes, so two reads return different pointers to equal objects.
func ExampleStorage() {
	client := fake.NewClientset(examplePod("web-1"), examplePod("web-2"), examplePod("web-3"))
	pods := informer.New(reflector.From(client.CoreV1().Pods("")), informer.Options[*corev1.Pod]{
		Storage: informer.Storage{Decoded: informer.NewBudget(0)}, // for example 64 << 20 in a program
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- pods.Run(ctx) }()
	if err := pods.WaitSynced(ctx); err != nil {
		fmt.Println(err)
	}

	key := indexer.Key{Namespace: "prod", Name: "web-1"}
	first, _ := pods.Indexer().Get(key)
	second, _ := pods.Indexer().Get(key)
	fmt.Println("the same version:", first.UID == second.UID && first.ResourceVersion == second.ResourceVersion)
	fmt.Println("the same pointer:", first == second)
	status := pods.Status().Storage
	fmt.Println("decoded at each read:", status.Decodes >= 2, "pinned:", status.Pinned)

	cancel()
	fmt.Println("ran:", <-done)
	// Output:
	// the same version: true
	// the same pointer: false
	// decoded at each read: true pinned: 0
	// ran: <nil>
}
