package main

import (
	"context"
	"log"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/workqueue"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
)

// controller makes the summaries what they should be. Whatever happens to a
// Deployment or its summary, it puts their name in the queue; a worker then
// looks at what is there now, and does what is missing.
type controller struct {
	client          kubernetes.Interface
	deployments     *informer.Informer[*appsv1.Deployment]
	summaries       *informer.Informer[*corev1.ConfigMap]
	queue           workqueue.TypedRateLimitingInterface[indexer.Key]
	deeds, troubles *log.Logger
}

func newController(client kubernetes.Interface, deployments *informer.Informer[*appsv1.Deployment], summaries *informer.Informer[*corev1.ConfigMap], deeds, troubles *log.Logger) (*controller, error) {
	// What fails is tried again after 10 ms, 20 ms and so on. Half a minute is
	// the most, so that the end of an outage is noticed soon.
	patience := workqueue.NewTypedItemExponentialFailureRateLimiter[indexer.Key](10*time.Millisecond, 30*time.Second)
	c := &controller{
		client: client, deployments: deployments, summaries: summaries,
		queue: workqueue.NewTypedRateLimitingQueue(patience),
		deeds: deeds, troubles: troubles,
	}
	if err := enqueue(deployments, c.queue); err != nil {
		return nil, err
	}
	return c, enqueue(summaries, c.queue)
}

// enqueue puts the names of all objects that change in the queue. A summary
// has the name of its Deployment, so one queue does for both. What the change
// was does not matter, and the queue makes one of many. The handler takes Every
// change all the same: Latest would not mention a summary that was made here
// and taken away at once, and it would not be made again.
func enqueue[T informer.Object](objects *informer.Informer[T], queue workqueue.TypedInterface[indexer.Key]) error {
	_, err := objects.Handle(informer.HandlerFunc[T](func(c informer.Change[T]) {
		obj := c.New
		if c.Kind == informer.Deleted {
			obj = c.Old
		}
		queue.Add(indexer.Key{Namespace: obj.GetNamespace(), Name: obj.GetName()})
	}), informer.HandlerOptions{Name: "controller"})
	return err
}

// run works until ctx ends, and returns when all workers have stopped. Its
// error says why the informers had not synced by then.
func (c *controller) run(ctx context.Context, workers int) error {
	defer c.queue.ShutDown()
	// On half of the state a worker would take what is not there yet for deleted.
	if err := c.deployments.WaitSynced(ctx); err != nil {
		return err
	}
	if err := c.summaries.WaitSynced(ctx); err != nil {
		return err
	}
	c.deeds.Printf("synced: deployments %d, summaries %d", c.deployments.Indexer().Len(), c.summaries.Indexer().Len())

	var working sync.WaitGroup
	for range workers {
		working.Go(func() { c.work(ctx) })
	}
	<-ctx.Done()
	c.queue.ShutDown() // and Get returns
	working.Wait()
	c.deeds.Print("stopped")
	return nil
}

// work takes names from the queue, one at a time. The queue hands out no name
// that another worker has not finished with.
func (c *controller) work(ctx context.Context) {
	for {
		key, shutdown := c.queue.Get()
		if shutdown {
			return
		}
		c.process(ctx, key)
		c.queue.Done(key)
	}
}

// process reconciles once. What fails goes back into the queue, to be tried
// again later, and later each time.
func (c *controller) process(ctx context.Context, key indexer.Key) {
	if ctx.Err() != nil {
		return // the next start finds it
	}
	did, err := c.reconcile(ctx, key)
	switch {
	case err == nil:
		c.queue.Forget(key)
	case ctx.Err() == nil:
		c.queue.AddRateLimited(key)
		c.troubles.Printf("%s: failure %d, trying again: %s", key, c.queue.NumRequeues(key), strings.Join(strings.Fields(err.Error()), " "))
	}
	if did != "" {
		c.deeds.Printf("%s: %s", key, did)
	}
}
