package informertest_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// A unit test of an informer and its handler writes to the server, causes an outage, and prints the handler's
// events.
func ExampleServer_Source() {
	server := informertest.New(informertest.Options{})
	defer server.Close()
	pods := informer.New(server.Source(corev1.SchemeGroupVersion.WithResource("pods"), ""), informer.Options[*corev1.Pod]{})
	recorded := make(chan string)
	_, err := pods.Handle(informer.HandlerFunc[*corev1.Pod](func(c informer.Change[*corev1.Pod]) {
		recorded <- c.Kind.String()
	}), informer.HandlerOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background()) // in a test, t.Context()
	done := make(chan error)
	go func() { done <- pods.Run(ctx) }()

	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "web"}}
	if err := server.Create(ctx, pod); err != nil {
		fmt.Println(err)
	}
	fmt.Println(<-recorded)
	server.CutWatches() // so the informer misses the next change,
	pod.Labels = map[string]string{"app": "shop"}
	if err := server.Update(ctx, pod); err != nil {
		fmt.Println(err)
	}
	fmt.Println(<-recorded) // and gets it from a new watch

	cancel()
	fmt.Println(<-done)
	// Output:
	// added
	// updated
	// <nil>
}

// The server of this controller fails once. Settle waits for the informer and its handlers, so the test never
// sleeps.
func ExampleServer_Settle() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	server := informertest.New(informertest.Options{})
	defer server.Close()
	pods := informer.New(server.Source(corev1.SchemeGroupVersion.WithResource("pods"), ""), informer.Options[*corev1.Pod]{
		Observe: func(informer.Event) {}, // instead of the log
	})
	recorded := 0
	_, err := pods.Handle(informer.HandlerFunc[*corev1.Pod](func(informer.Change[*corev1.Pod]) { recorded++ }), informer.HandlerOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	wait, err := pods.Start(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}

	for _, name := range []string{"web-1", "web-2"} {
		server.CutWatches()
		if err := server.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: name}}); err != nil {
			fmt.Println(err)
		}
		if err := server.Settle(ctx, pods); err != nil {
			fmt.Println(err)
		}
		fmt.Println(recorded, pods.Indexer().Len())
	}

	cancel()
	if err := wait(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 1 1
	// 2 2
}
