package faults

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/workqueue"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// statusWriter is the name of the controller, see [reflector.WithWriter].
const statusWriter = "status"

// statusController answers each foreign change of a pod with a PUT of the pod's status. Its workers
// ignore updates that are its own according to Made.
type statusController struct {
	*scenario
	client   kubernetes.Interface
	own      *reflector.OwnWrites
	pods     *informer.Informer[*corev1.Pod]
	requests harness.Requests
	queue    *workqueue.Typed[indexer.Key]

	mu      sync.Mutex
	seen    map[string][]string              // the foreign values of each pod, in the order in which the handler got them
	updates map[indexer.Key][][2]*corev1.Pod // updates that no worker has taken

	written, conflicts atomic.Int64
	woken              atomic.Int64 // reconciles for own updates that Made did not recognize
}

// startStatusController starts a controller with some workers. They end with the queue.
func (s *scenario) startStatusController(workers int) *statusController {
	c := &statusController{
		scenario: s, own: reflector.NewOwnWrites(), queue: workqueue.NewTyped[indexer.Key](), seen: map[string][]string{},
		updates: map[indexer.Key][][2]*corev1.Pod{},
	}
	reading, writing := s.connect(s.cluster.Config()), s.connect(s.cluster.Config())
	c.requests.Count(reading) // only the informer's
	reading.Wrap(c.own.Wire)
	writing.Wrap(c.own.Wire)
	c.client = kubernetes.NewForConfigOrDie(writing)
	c.pods = informer.New(pods(kubernetes.NewForConfigOrDie(reading)), informer.Options[*corev1.Pod]{})
	_, err := c.pods.Handle(informer.Funcs[*corev1.Pod]{Updated: c.updated}, informer.HandlerOptions{})
	s.must(err)
	wait, err := c.pods.Start(s.ctx)
	s.must(err)
	s.t.Cleanup(func() { require.NoError(s.t, wait()) })
	s.must(c.pods.WaitSynced(s.ctx))
	var working sync.WaitGroup
	for range workers {
		working.Go(c.work)
	}
	s.t.Cleanup(func() {
		c.queue.ShutDown()
		working.Wait()
	})
	return c
}

// updated is called by the informer.
func (c *statusController) updated(old, now *corev1.Pod) {
	key := indexer.Key{Namespace: now.Namespace, Name: now.Name}
	c.mu.Lock()
	if foreign := now.Annotations["foreign"]; foreign != old.Annotations["foreign"] {
		c.seen[now.Name] = append(c.seen[now.Name], foreign)
	}
	c.updates[key] = append(c.updates[key], [2]*corev1.Pod{old, now})
	c.mu.Unlock()
	c.queue.Add(key)
}

// wakes takes the updates of a pod, and reports whether any of them is foreign. The worker's own write
// has returned, so Made knows it.
func (c *statusController) wakes(key indexer.Key) (wakes bool) {
	c.mu.Lock()
	defer c.mu.Unlock()

	for _, u := range c.updates[key] {
		foreign := u[1].Annotations["foreign"]
		switch changed, made := foreign != u[0].Annotations["foreign"], c.own.Made(statusWriter, u[0], u[1]); {
		case changed && made:
			c.t.Errorf("Made hides the foreign change %s of %s", foreign, key)
		case changed:
			wakes = true
		case !made:
			c.woken.Add(1)
			wakes = true
		}
	}
	delete(c.updates, key)
	return wakes
}

func (c *statusController) work() {
	for {
		key, end := c.queue.Get()
		if end {
			return
		}
		if c.wakes(key) {
			if err := c.reconcile(reflector.WithWriter(c.ctx, statusWriter), key); err != nil {
				c.t.Error(err)
			}
		}
		c.queue.Done(key)
	}
}

// reconcile writes the foreign value of a pod into its status. After a conflict, a foreign change is on
// its way.
func (c *statusController) reconcile(ctx context.Context, key indexer.Key) error {
	stored, ok := c.pods.Indexer().Get(key)
	if !ok || stored.Status.Message == stored.Annotations["foreign"] {
		return nil
	}
	next := stored.DeepCopy()
	next.Status.Message = stored.Annotations["foreign"]
	_, err := c.client.CoreV1().Pods(key.Namespace).UpdateStatus(ctx, next, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) {
		c.conflicts.Add(1)
		return nil
	}
	c.written.Add(1)
	return err
}

// missed returns the number of foreign values that the handler did not get. It returns an error unless
// the handler got a pod's last value, and all others in order.
func (c *statusController) missed(want map[string][]string) (n int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()

	for name, values := range want {
		n += len(values) - len(c.seen[name])
		next := 0
		for _, value := range c.seen[name] {
			later := slices.Index(values[next:], value)
			if later < 0 {
				return n, fmt.Errorf("for %s the handler got %s again or too late", name, value)
			}
			next += later + 1
		}
		if next < len(values) {
			err = fmt.Errorf("for %s the handler got %d of %d values; requests: %v; %+v", name, next, len(values), &c.requests, c.pods.Status().OwnWrites)
		}
	}
	return n, err
}

// A controller that writes statuses gets each foreign change, and does not reconcile for its own writes.
func TestScenario_StatusWritesHideNothingForeign(t *testing.T) {
	const writers = 16
	s := begin(t, harness.Options{})
	count, changes := writers*size(10, 100), size(8_000, 100_000)
	s.storePods(count)
	c := s.startStatusController(8)
	want := map[string][]string{}
	for n := range changes {
		name := harness.PodName(n % count)
		want[name] = append(want[name], fmt.Sprint(n))
	}
	// Each writer has its own pods, and writes directly into etcd, because the kube-apiserver handles
	// fewer writes per second.
	s.must(harness.Each(s.ctx, writers, writers, func(ctx context.Context, writer int) error {
		for n := writer; n < changes; n += writers {
			pod := storedPod(n%count, n)
			pod.Annotations["foreign"] = fmt.Sprint(n)
			if err := s.cluster.Store(ctx, "pods", pod); err != nil {
				return err
			}
		}
		return nil
	}))
	missed := 0
	s.eventually("the handler gets the last foreign changes", func() (err error) {
		missed, err = c.missed(want)
		return err
	})
	if c.requests.States.Load() == 1 { // otherwise a list has delivered several changes at once
		require.Zero(t, missed)
	}
	s.eventually("all statuses are written", c.answered)
	s.must(c.pods.WaitFresh(s.ctx))
	require.Zero(t, c.woken.Load())
	s.note = fmt.Sprintf("%d of %d foreign changes not delivered, %.2f reconciles per change, %d statuses written, %d conflicts",
		missed, changes, 1+float64(c.woken.Load())/float64(changes), c.written.Load(), c.conflicts.Load())
	t.Log(s.note)
	s.row(0)
}

// answered returns an error unless each pod has its foreign value in its status.
func (c *statusController) answered() error {
	for pod := range c.pods.Indexer().All() {
		if pod.Status.Message != pod.Annotations["foreign"] {
			return fmt.Errorf("%s has the status %q, but the foreign value %q", pod.Name, pod.Status.Message, pod.Annotations["foreign"])
		}
	}
	return nil
}
