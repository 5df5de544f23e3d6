package guides

import (
	"context"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/shard"
)

// replica handles its share of the ConfigMaps: the first of two replicas has 0/2, the second 1/2.
func replica(ctx context.Context, client kubernetes.Interface, nth string, handle func(*corev1.ConfigMap)) error {
	index, total, err := shard.ParseNth(nth)
	if err != nil {
		return err
	}
	share, err := shard.Nth(shard.ByUID, index, total)
	if err != nil {
		return err
	}
	f := factory.NewSharedInformerFactoryWithOptions(client, 0, factory.WithShard(shard.Static(share), &corev1.ConfigMap{}))
	defer f.Shutdown()
	configMaps, err := factory.For[*corev1.ConfigMap](f)
	if err != nil {
		return err
	}
	handler, err := configMaps.Handle(informer.Funcs[*corev1.ConfigMap]{Added: handle}, informer.HandlerOptions{})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	f.StartWithContext(ctx)
	if err := configMaps.WaitSynced(ctx); err != nil {
		return err
	}
	<-handler.Synced() // a real program waits for ctx.Done()
	return nil
}

// replicas runs two replicas, one after the other.
func replicas(ctx context.Context, config *rest.Config, out *log.Logger) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	handled := map[string]int{}
	for _, nth := range []string{"0/2", "1/2"} {
		if err := replica(ctx, client, nth, func(c *corev1.ConfigMap) { handled[c.Name]++ }); err != nil {
			return err
		}
	}
	out.Println(len(handled), "ConfigMaps")
	for name, times := range handled {
		if times != 1 {
			out.Println(name, times)
		}
	}
	return nil
}

func Example_manyReplicas() {
	var configMaps []runtime.Object
	for n := range 100 {
		configMaps = append(configMaps, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint("c-", n)}})
	}
	on(replicas, configMaps...)
	// Output: 100 ConfigMaps
}
