package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
)

// churn is a number of goroutines that write a scenario's pods.
type churn struct {
	s        *scenario
	pods     int
	writers  int
	pause    time.Duration // the pause between two writes of a writer
	written  atomic.Int64
	cancel   context.CancelFunc
	finished sync.WaitGroup
}

// churn starts writers that change, delete and create the first n pods. Each writer has its own pods.
func (s *scenario) churn(writers, n int, pause time.Duration) *churn {
	ctx, cancel := context.WithCancel(s.ctx)
	c := &churn{s: s, pods: n, writers: writers, pause: pause, cancel: cancel}
	s.t.Cleanup(c.end)
	for w := range writers {
		c.finished.Go(func() { c.write(ctx, w) })
	}
	return c
}

// end stops the writers and waits for them.
func (c *churn) end() {
	c.cancel()
	c.finished.Wait()
}

// write writes pods until ctx ends. It does not repeat a write that fails during a fault.
func (c *churn) write(ctx context.Context, writer int) {
	random := rand.New(rand.NewPCG(6, uint64(writer)))
	for ctx.Err() == nil {
		i := writer + c.writers*random.IntN(c.pods/c.writers)
		// A write does not end with ctx, so that nothing changes after end.
		if err := c.once(context.WithoutCancel(ctx), i, random); err == nil {
			c.written.Add(1)
		}
		select {
		case <-time.After(c.pause):
		case <-ctx.Done():
		}
	}
}

// once changes the round of a pod, or sometimes deletes or recreates the pod.
func (c *churn) once(ctx context.Context, i int, random *rand.Rand) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	namespace, name := harness.Namespace(i%namespaces), harness.PodName(i)
	pods := c.s.admin.CoreV1().Pods(namespace)
	if random.IntN(6) == 0 {
		if err := pods.Delete(ctx, name, now); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		if random.IntN(3) == 0 {
			return nil // a later change recreates it
		}
	}
	round := fmt.Sprint(random.IntN(10))
	patch := fmt.Sprintf(`{"metadata":{"annotations":{"round":%q},"labels":{"round":%q}}}`, round, round)
	_, err := pods.Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		_, err = pods.Create(ctx, harness.Pod(namespace, name, i), metav1.CreateOptions{})
	}
	return err
}

// now deletes pods at once, because there is no kubelet to confirm the deletion.
var now = *metav1.NewDeleteOptions(0)

// deletePods deletes the pods from first up to end.
func (s *scenario) deletePods(first, end int) {
	s.t.Helper()
	s.must(harness.Each(s.ctx, harness.Creators, end-first, func(ctx context.Context, i int) error {
		i += first
		return s.admin.CoreV1().Pods(harness.Namespace(i%namespaces)).Delete(ctx, harness.PodName(i), now)
	}))
}

// touchPods changes the pods from first up to end.
func (s *scenario) touchPods(first, end int, round string) {
	s.t.Helper()
	s.must(harness.Each(s.ctx, harness.Creators, end-first, func(ctx context.Context, i int) error {
		i += first
		patch := fmt.Sprintf(`{"metadata":{"annotations":{"round":%q},"labels":{"round":%q}}}`, round, round)
		_, err := s.admin.CoreV1().Pods(harness.Namespace(i%namespaces)).Patch(ctx, harness.PodName(i), types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	}))
}
