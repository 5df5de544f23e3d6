package informer_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

func examplePod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: name, Labels: map[string]string{"step": "0"}}}
}

// An informer of a client's pods: create it, add handlers, run it.
func Example() {
	client := fake.NewClientset(examplePod("web-1"))
	pods := informer.New(reflector.From(client.CoreV1().Pods("")), informer.Options[*corev1.Pod]{})
	added := make(chan string)
	_, err := pods.Handle(informer.Funcs[*corev1.Pod]{
		Added: func(p *corev1.Pod) { added <- p.Name },
	}, informer.HandlerOptions{Name: "greeter"})
	if err != nil {
		fmt.Println(err)
		return
	}

	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- pods.Run(ctx) }()
	fmt.Println("there is", <-added)
	if err := pods.WaitSynced(ctx); err != nil {
		fmt.Println(err)
	}
	for !pods.Status().Watching { // a fake clientset's watch brings later events only
		time.Sleep(time.Millisecond)
	}
	_, _ = client.CoreV1().Pods("prod").Create(ctx, examplePod("web-2"), metav1.CreateOptions{})
	fmt.Println("here comes", <-added)
	p, err := pods.Lister().Namespace("prod").Get("web-2")
	fmt.Println(p.Name, err)

	cancel()
	fmt.Println("ran:", <-done)
	// Output:
	// there is web-1
	// here comes web-2
	// web-2 <nil>
	// ran: <nil>
}

// With Latest delivery, a busy handler gets the latest state of an object, and not each step on the
// way there.
func ExampleDelivery() {
	client := fake.NewClientset(examplePod("web-1"))
	pods := informer.New(reflector.From(client.CoreV1().Pods("")), informer.Options[*corev1.Pod]{})
	busy, recorded := make(chan bool), make(chan string, 10)
	_, err := pods.Handle(informer.HandlerFunc[*corev1.Pod](func(c informer.Change[*corev1.Pod]) {
		recorded <- c.Kind.String() + " " + c.New.Labels["step"]
		<-busy
	}), informer.HandlerOptions{Delivery: informer.Latest})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- pods.Run(ctx) }()
	fmt.Println(<-recorded) // the handler is busy from here on
	for !pods.Status().Watching {
		time.Sleep(time.Millisecond)
	}
	for step := range 100 {
		p := examplePod("web-1")
		p.Labels = map[string]string{"step": fmt.Sprint(step + 1)}
		_, _ = client.CoreV1().Pods("prod").Update(ctx, p, metav1.UpdateOptions{})
	}
	last := func() bool {
		p, err := pods.Lister().Namespace("prod").Get("web-1")
		return err == nil && p.Labels["step"] == "100"
	}
	for !last() {
		time.Sleep(time.Millisecond)
	}
	close(busy)
	fmt.Println(<-recorded)

	cancel()
	fmt.Println(<-done)
	// Output:
	// added 0
	// updated 100
	// <nil>
}

// WaitSynced and Status tell why an informer is not synced.
func ExampleInformer_Status() {
	pods := informer.New(reflector.From(unreachable{}), informer.Options[*corev1.Pod]{
		Observe: func(informer.Event) {}, // instead of the log
	})
	ctx, cancel := context.WithTimeoutCause(context.Background(), 50*time.Millisecond, errors.New("no time left"))
	defer cancel()
	done := make(chan error)
	go func() { done <- pods.Run(ctx) }()
	err := pods.WaitSynced(ctx)
	fmt.Println(errors.Is(err, informer.ErrNotSynced) || errors.Is(err, informer.ErrStopped))
	fmt.Println(<-done)
	st := pods.Status()
	fmt.Println("synced:", st.Synced, "stopped:", st.Stopped, "objects:", st.Objects)
	fmt.Println(st.LastError)
	// Output:
	// true
	// <nil>
	// synced: false stopped: true objects: 0
	// list *v1.Pod: dial tcp 10.0.0.1:443: no route to host
}

// unreachable is a client whose server cannot be reached.
type unreachable struct {
	reflector.Client[*corev1.PodList]
}

func (unreachable) List(context.Context, metav1.ListOptions) (*corev1.PodList, error) {
	return nil, errors.New("dial tcp 10.0.0.1:443: no route to host")
}

func (unreachable) IsWatchListSemanticsUnSupported() bool { return true }
