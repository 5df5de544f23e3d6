package guides

import (
	"context"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// ownWrites creates a ConfigMap and finds it in the cache at once.
func ownWrites(ctx context.Context, config *rest.Config, out *log.Logger) error {
	own := reflector.NewOwnWrites()
	config.Wrap(own.Wire) // the last Wrap, before the client is made
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	f := factory.NewSharedInformerFactory(client, 0)
	defer f.Shutdown()
	configMaps, err := factory.For[*corev1.ConfigMap](f)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	f.StartWithContext(ctx)
	if err := configMaps.WaitSynced(ctx); err != nil {
		return err
	}

	prices := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "prices"}}
	written, err := client.CoreV1().ConfigMaps("shop").Create(ctx, prices, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	cached, err := configMaps.Lister().Namespace("shop").Get("prices") // without a wait
	if err != nil {
		return err
	}
	out.Println(cached.Name, "is in the cache:", cached.ResourceVersion == written.ResourceVersion)
	return nil
}

func Example_ownWrites() {
	on(ownWrites)
	// Output: prices is in the cache: true
}
