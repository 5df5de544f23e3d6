package guides

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/workqueue"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// label gives each ConfigMap the label seen=true until ctx ends.
func label(ctx context.Context, client kubernetes.Interface) error {
	f := factory.NewSharedInformerFactory(client, 0)
	configMaps, err := factory.For[*corev1.ConfigMap](f)
	if err != nil {
		return err
	}
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[indexer.Key]())
	defer queue.ShutDown()
	context.AfterFunc(ctx, queue.ShutDown) // ends Get
	if _, err := configMaps.HandleKeys(queue.Add, informer.HandlerOptions{}); err != nil {
		return err
	}
	f.StartWithContext(ctx)
	defer f.Shutdown()
	if err := configMaps.WaitSynced(ctx); err != nil {
		return err
	}
	for {
		key, ended := queue.Get()
		if ended {
			return nil
		}
		if err := reconcile(ctx, client, configMaps.Indexer(), key); err != nil {
			queue.AddRateLimited(key)
		} else {
			queue.Forget(key)
		}
		queue.Done(key)
	}
}

func reconcile(ctx context.Context, client kubernetes.Interface, cached *indexer.Indexer[*corev1.ConfigMap], key indexer.Key) error {
	c, ok := cached.Get(key)
	if !ok || c.Labels["seen"] == "true" {
		return nil
	}
	c = c.DeepCopy() // all readers share the cached object
	metav1.SetMetaDataLabel(&c.ObjectMeta, "seen", "true")
	_, err := client.CoreV1().ConfigMaps(c.Namespace).Update(ctx, c, metav1.UpdateOptions{})
	return err
}

func TestLabel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := informertest.New(informertest.Options{})
		t.Cleanup(server.Close)
		require.NoError(t, server.StartInMemory())
		client := kubernetes.NewForConfigOrDie(server.ClientConfig())
		go func() { assert.NoError(t, label(t.Context(), client)) }()
		synctest.Wait() // the controller has an empty cache

		server.CutWatches() // as a restart of the API server does
		c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "prices"}}
		require.NoError(t, server.Create(t.Context(), c))
		time.Sleep(time.Minute) // of the bubble's clock: it takes no time
		require.NoError(t, server.Get(t.Context(), "shop", "prices", c))
		require.Equal(t, "true", c.Labels["seen"])
	})
}
