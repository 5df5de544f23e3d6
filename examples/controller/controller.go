package main

import (
	"context"
	"log"
	"slices"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/workqueue"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// controller keeps the summaries up to date. Each change of a Deployment or its summary puts their common
// name in the queue. A worker then compares the current objects, and makes the necessary changes.
type controller struct {
	client            kubernetes.Interface
	deployments       *informer.Informer[*appsv1.Deployment]
	summaries         *informer.Informer[*corev1.ConfigMap]
	queue             workqueue.TypedRateLimitingInterface[indexer.Key]
	wakeups           wakeups
	actions, problems *log.Logger
}

func newController(client kubernetes.Interface, own *reflector.OwnWrites, deployments *informer.Informer[*appsv1.Deployment], summaries *informer.Informer[*corev1.ConfigMap], actions, problems *log.Logger) (*controller, error) {
	// Failures are retried after 10 ms, 20 ms and so on, up to half a minute, so the controller recovers soon
	// after an outage.
	retries := workqueue.NewTypedItemExponentialFailureRateLimiter[indexer.Key](10*time.Millisecond, 30*time.Second)
	c := &controller{
		client: client, deployments: deployments, summaries: summaries,
		queue:   workqueue.NewTypedRateLimitingQueue(retries),
		wakeups: wakeups{own: own, changes: map[indexer.Key][]change{}},
		actions: actions, problems: problems,
	}
	// The controller needs only the name of a changed Deployment. HandleKeys finds it without decoding an
	// object.
	if _, err := deployments.HandleKeys(func(key indexer.Key) { c.wake(key, change{}) }, informer.HandlerOptions{Name: "controller"}); err != nil {
		return nil, err
	}
	return c, enqueue(summaries, c.wake)
}

// writer identifies the controller's own writes.
const writer = "summaries"

// enqueue wakes the controller for each change. A summary has the name of its Deployment, so one queue serves
// both. The handler needs delivery Every. With Latest, a summary that the controller creates and a user
// deletes at once would cause no event, and the controller would not create it again.
func enqueue[T informer.Object](objects *informer.Informer[T], wake func(indexer.Key, change)) error {
	_, err := objects.Handle(informer.HandlerFunc[T](func(c informer.Change[T]) {
		obj := c.New
		if c.Kind == informer.Deleted {
			obj = c.Old
		}
		wake(indexer.Key{Namespace: obj.GetNamespace(), Name: obj.GetName()}, change{c.Old, c.New})
	}), informer.HandlerOptions{Name: "controller"})
	return err
}

// wake puts a name in the queue.
func (c *controller) wake(key indexer.Key, because change) {
	c.wakeups.add(key, because)
	c.queue.Add(key)
}

// change is a change of a summary, or the zero value for another reason to look at it.
type change struct{ from, to metav1.Object }

// wakeups holds the reasons why names are in the queue. The controller's own writes are not a reason to look
// again. A change often arrives before the answer to its write. So the worker asks who made the change, and
// not the handler: when the worker asks, its write has returned.
type wakeups struct {
	own     *reflector.OwnWrites
	mu      sync.Mutex
	changes map[indexer.Key][]change
}

func (w *wakeups) add(key indexer.Key, because change) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.changes[key] = append(w.changes[key], because)
}

// foreign removes the reasons for a name, and reports whether any of them is not the controller's own write.
func (w *wakeups) foreign(key indexer.Key) bool {
	w.mu.Lock()
	defer w.mu.Unlock()

	all := w.changes[key]
	delete(w.changes, key)
	return slices.ContainsFunc(all, func(c change) bool { return !w.own.Made(writer, c.from, c.to) })
}

// run works until ctx ends, and returns when all workers have stopped. It returns an error if the
// informers did not sync in time.
func (c *controller) run(ctx context.Context, workers int) error {
	defer c.queue.ShutDown()
	// With an incomplete store, a worker would treat missing objects as deleted.
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

// work takes names from the queue, one at a time. The queue never gives the same name to two workers at once.
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
	if ctx.Err() != nil || !c.wakeups.foreign(key) {
		return // the next start handles the name, or there is nothing to do
	}
	did, err := c.reconcile(reflector.WithWriter(ctx, writer), key)
	switch {
	case err == nil:
		c.queue.Forget(key)
	case ctx.Err() == nil:
		c.wakeups.add(key, change{})
		c.queue.AddRateLimited(key)
		c.problems.Printf("%s: attempt %d failed, retrying: %s", key, c.queue.NumRequeues(key), strings.Join(strings.Fields(err.Error()), " "))
	}
	if did != "" {
		c.actions.Printf("%s: %s", key, did)
	}
}
