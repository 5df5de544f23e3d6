package informertest

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// countingController counts its writes to each pod in a label, up to three. It handles a pod with the label
// "later" again after a minute.
type countingController struct {
	client kubernetes.Interface
	queue  workqueue.TypedRateLimitingInterface[cache.ObjectName]
}

func (c *countingController) run(ctx context.Context) {
	for {
		key, end := c.queue.Get()
		if end {
			return
		}
		c.sync(ctx, key)
		c.queue.Done(key)
	}
}

func (c *countingController) sync(ctx context.Context, key cache.ObjectName) {
	pod, err := c.client.CoreV1().Pods(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	if err != nil {
		return
	}
	count := pod.Labels["count"]
	if pod.Labels["when"] == "later" && time.Since(pod.CreationTimestamp.Time) < time.Minute {
		c.queue.AddAfter(key, time.Minute)
		return
	}
	if count != "xxx" {
		patch := fmt.Sprintf(`{"metadata":{"labels":{"count":%q}}}`, count+"x")
		_, _ = c.client.CoreV1().Pods(key.Namespace).Patch(ctx, key.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	}
}

// Settle does not wait for work queues. In a bubble, synctest.Wait waits for everything: informers
// (client-go's here), queues, workers, and the effects of their writes. It does not wait for a delayed item,
// because time must pass first.
func TestSynctestCoversWorkQueues(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s *Server) {
		require.NoError(t, s.StartInMemory())
		c := &countingController{
			client: newClient(t, s.ClientConfig()),
			queue:  workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName]()),
		}
		factory := informers.NewSharedInformerFactory(c.client, 0)
		enqueue := func(obj any) { c.queue.Add(cache.MetaObjectToName(obj.(*corev1.Pod))) }
		_, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: enqueue, UpdateFunc: func(_, obj any) { enqueue(obj) },
		})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		defer factory.Shutdown()
		defer c.queue.ShutDown()
		defer cancel()
		factory.Start(ctx.Done())
		go c.run(ctx)

		require.NoError(t, s.Create(ctx, newPod("a", "now")))
		require.NoError(t, s.Create(ctx, newPod("a", "later", "when", "later")))
		count := func(name string) string {
			pod := newPod("", "")
			require.NoError(t, s.Get(ctx, "a", name, pod))
			return pod.Labels["count"]
		}
		synctest.Wait()
		assert.Equal(t, "xxx", count("now"))
		assert.Empty(t, count("later"))
		assert.Len(t, s.Requests().Of(Request{Verb: "patch", Resource: "pods", Name: "now"}), 3)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		assert.Equal(t, "xxx", count("later"))
	})
}
