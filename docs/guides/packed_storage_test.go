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
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
)

// packed holds the pods packed, and up to 64 MiB of them decoded.
func packed(ctx context.Context, config *rest.Config, out *log.Logger) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	f := factory.NewSharedInformerFactoryWithOptions(client, 0,
		factory.WithStorage(informer.Storage{Decoded: informer.NewBudget(64 << 20)}))
	defer f.Shutdown()
	pods, err := factory.For[*corev1.Pod](f)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	f.StartWithContext(ctx)
	if err := pods.WaitSynced(ctx); err != nil {
		return err
	}

	web, ok := pods.Indexer().Get(indexer.Key{Namespace: "shop", Name: "web-0"}) // decodes it
	storage := pods.Status().Storage
	out.Println(web.Name, ok, "packed:", storage.Packed > 0, "pinned:", storage.Pinned)
	return nil
}

func Example_packedStorage() {
	var pods []runtime.Object
	for n := range 100 {
		pods = append(pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint("web-", n)}})
	}
	on(packed, pods...)
	// Output: web-0 true packed: true pinned: 0
}
