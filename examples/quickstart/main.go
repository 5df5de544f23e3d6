// Quickstart keeps the pods of a cluster in memory, finds pods by label, and prints changes of their phase.
// Copy it to start your own program.
//
//	go run ./examples/quickstart
//
// It uses the cluster of $KUBECONFIG or ~/.kube/config. Without such a cluster, demo.go starts an API server
// in this process. Ctrl-C ends the program.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/informer"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second Ctrl-C kills the program

	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		clientcmd.NewDefaultClientConfigLoadingRules(), &clientcmd.ConfigOverrides{}).ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		config, err = demo(ctx)
	}
	if err == nil {
		err = watch(ctx, kubernetes.NewForConfigOrDie(config), log.New(os.Stdout, "", 0))
	}
	if err != nil {
		log.Fatal(err)
	}
}

// watch prints each change of a pod's phase until ctx ends.
func watch(ctx context.Context, client kubernetes.Interface, out *log.Logger) error {
	f := factory.NewSharedInformerFactory(client, 0)
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
		return err // wraps the last error of the list or watch
	}
	web, err := pods.Lister().List(labels.SelectorFromSet(labels.Set{"app": "web"}))
	if err != nil {
		return err
	}
	out.Println(len(web), "of", pods.Indexer().Len(), "pods have the label app=web")
	<-pods.Done()
	return nil
}
