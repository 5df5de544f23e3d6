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
	"github.com/tidemark-k8s/tidemark/reflector"
)

// controller keeps the summaries up to date. Each change of a Deployment or its summary puts
// their name in the queue. A worker then compares the current objects and makes the necessary
// changes.
type controller struct {
	client            kubernetes.Interface
	deployments       *informer.Informer[*appsv1.Deployment]
	summaries         *informer.Informer[*corev1.ConfigMap]
	queue             workqueue.TypedRateLimitingInterface[indexer.Key]
	actions, problems *log.Logger
}

func newController(client kubernetes.Interface, own *reflector.OwnWrites, deployments *informer.Informer[*appsv1.Deployment], summaries *informer.Informer[*corev1.ConfigMap], actions, problems *log.Logger) (*controller, error) {
	// Failures are retried after 10 ms, 20 ms and so on, up to half a minute, so that the
	// controller recovers soon after an outage.
	retries := workqueue.NewTypedItemExponentialFailureRateLimiter[indexer.Key](10*time.Millisecond, 30*time.Second)
	c := &controller{
		client: client, deployments: deployments, summaries: summaries,
		queue:   workqueue.NewTypedRateLimitingQueue(retries),
		actions: actions, problems: problems,
	}
	// Of a Deployment its name is enough: nothing is decoded to tell it.
	if _, err := deployments.HandleKeys(c.queue.Add, informer.HandlerOptions{Name: "controller"}); err != nil {
		return nil, err
	}
	return c, enqueue(summaries, c.queue, own)
}

// writer is the name of the controller's writes.
const writer = "summaries"

// enqueue puts the names of the objects in the queue that others have changed: the controller's own updates
// need no second look. A summary has the name of its Deployment, so one queue serves both. The kind of change
// does not matter, and the queue merges equal names. The handler still needs delivery Every: with Latest, a
// summary created by the controller and deleted by somebody else at once would cause no event, and would not
// be created again.
func enqueue[T informer.Object](objects *informer.Informer[T], queue workqueue.TypedInterface[indexer.Key], own *reflector.OwnWrites) error {
	_, err := objects.Handle(informer.HandlerFunc[T](func(c informer.Change[T]) {
		if c.Kind == informer.Updated && own.Made(writer, c.Old, c.New) {
			return
		}
		obj := c.New
		if c.Kind == informer.Deleted {
			obj = c.Old
		}
		queue.Add(indexer.Key{Namespace: obj.GetNamespace(), Name: obj.GetName()})
	}), informer.HandlerOptions{Name: "controller"})
	return err
}

// run works until ctx ends, and returns when all workers have stopped. It returns an error if the
// informers did not sync in time.
func (c *controller) run(ctx context.Context, workers int) error {
	defer c.queue.ShutDown()
	// With an incomplete store, a worker would take missing objects for deleted ones.
	if err := c.deployments.WaitSynced(ctx); err != nil {
		return err
	}
	if err := c.summaries.WaitSynced(ctx); err != nil {
		return err
	}
	c.actions.Printf("synced: deployments %d, summaries %d", c.deployments.Indexer().Len(), c.summaries.Indexer().Len())

	var working sync.WaitGroup
	for range workers {
		working.Go(func() { c.work(ctx) })
	}
	<-ctx.Done()
	c.queue.ShutDown() // makes Get return
	working.Wait()
	c.actions.Print("stopped")
	return nil
}

// work takes names from the queue, one at a time. The queue never gives the same name to two
// workers at once.
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

// process reconciles once. After a failure it puts the name back into the queue, with a growing
// delay.
func (c *controller) process(ctx context.Context, key indexer.Key) {
	if ctx.Err() != nil {
		return // the next start of the controller handles it
	}
	did, err := c.reconcile(reflector.WithWriter(ctx, writer), key)
	switch {
	case err == nil:
		c.queue.Forget(key)
	case ctx.Err() == nil:
		c.queue.AddRateLimited(key)
		c.problems.Printf("%s: failure %d, trying again: %s", key, c.queue.NumRequeues(key), strings.Join(strings.Fields(err.Error()), " "))
	}
	if did != "" {
		c.actions.Printf("%s: %s", key, did)
	}
}
