package informer_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// A handler that writes to a database gets several changes per call, as many as are ready, and
// writes them in one transaction.
func ExampleInformer_HandleBatch() {
	client := fake.NewClientset(examplePod("web-1"), examplePod("web-2"), examplePod("web-3"))
	pods := informer.New(reflector.From(client.CoreV1().Pods("")), informer.Options[*corev1.Pod]{})
	transactions, committed := make(chan string), make(chan bool)
	_, err := pods.HandleBatch(func(b informer.Batch[*corev1.Pod]) {
		var rows []string
		for c := range b.All() {
			rows = append(rows, c.Kind.String()+" "+c.New.Name)
		}
		slices.Sort(rows) // the initial state comes in any order
		transactions <- strings.Join(rows, ", ")
		<-committed
	}, 100, informer.HandlerOptions{Name: "database"})
	if err != nil {
		fmt.Println(err)
		return
	}

	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- pods.Run(ctx) }()
	fmt.Println(<-transactions) // the handler is busy from here on
	for !pods.Status().Watching {
		time.Sleep(time.Millisecond)
	}
	for _, name := range []string{"web-4", "web-5"} {
		_, _ = client.CoreV1().Pods("prod").Create(ctx, examplePod(name), metav1.CreateOptions{})
	}
	for pods.Status().Objects < 5 {
		time.Sleep(time.Millisecond)
	}
	committed <- true
	fmt.Println(<-transactions)
	committed <- true

	cancel()
	fmt.Println("ran:", <-done)
	// Output:
	// added web-1, added web-2, added web-3
	// added web-4, added web-5
	// ran: <nil>
}
