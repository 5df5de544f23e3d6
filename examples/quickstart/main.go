// Quickstart keeps the pods of a cluster in memory, says when one changes its phase,
// and looks pods up by label. Copy it to begin with.
//
//	go run ./examples/quickstart
//
// The cluster is that of $KUBECONFIG or ~/.kube/config; where neither is there, it is
// an API server in this process, which demo.go makes up. The program ends at Ctrl-C.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/informer"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // the second Ctrl-C kills

	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		clientcmd.NewDefaultClientConfigLoadingRules(), &clientcmd.ConfigOverrides{}).ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		config, err = demo(ctx)
	}
	if err == nil {
		err = watch(ctx, config, log.New(os.Stdout, "", 0))
	}
	if err != nil {
		log.Fatal(err)
	}
}

// watch tells what happens to the pods of a cluster until ctx ends.
func watch(ctx context.Context, config *rest.Config, out *log.Logger) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	f := factory.NewSharedInformerFactory(client, 10*time.Minute)
	pods, err := factory.For[*corev1.Pod](f) // the informer of f.Core().V1().Pods(), with types
	if err != nil {
		return err
	}
	_, err = pods.Handle(informer.Funcs[*corev1.Pod]{
		Updated: func(old, pod *corev1.Pod) {
			if pod.Status.Phase != old.Status.Phase {
				out.Println(pod.Name, old.Status.Phase, "->", pod.Status.Phase)
			}
		},
	}, informer.HandlerOptions{})
	if err != nil {
		return err
	}
	f.StartWithContext(ctx)
	if err := pods.WaitSynced(ctx); err != nil {
		return err // says why: the last error of the list or watch is in it
	}
	web, err := pods.Lister().List(labels.SelectorFromSet(labels.Set{"app": "web"}))
	if err != nil {
		return err
	}
	out.Println(len(web), "of", pods.Indexer().Len(), "pods are labelled app=web")
	<-pods.Done()
	return nil
}
