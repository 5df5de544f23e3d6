package harness

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// Creators is the number of goroutines that create objects.
const Creators = 32

// CreatePods creates n pods, and their namespaces unless they exist.
func CreatePods(ctx context.Context, client kubernetes.Interface, n, namespaces int) error {
	if err := CreateNamespaces(ctx, client, namespaces); err != nil {
		return err
	}
	return Each(ctx, Creators, n, func(ctx context.Context, i int) error {
		pod := Pod(Namespace(i%namespaces), PodName(i), i)
		_, err := client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
		return err
	})
}

// CreateNamespaces creates the first n namespaces, unless they exist.
func CreateNamespaces(ctx context.Context, client kubernetes.Interface, n int) error {
	return Each(ctx, Creators, n, func(ctx context.Context, i int) error {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Namespace(i)}}
		_, err := client.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
}

// Each calls do for 0 to n-1 on several goroutines, and returns the first error.
func Each(ctx context.Context, workers, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, n) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := do(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// Namespace is the name of the i-th namespace.
func Namespace(i int) string { return fmt.Sprintf("team-%03d", i) }

// PodName is the name of the i-th pod.
func PodName(i int) string { return fmt.Sprintf("%s-6d4b75cb6d-%06d", app(i), i) }

// Apps is the number of values of the label app.
const Apps = 20

func app(i int) string { return fmt.Sprintf("app-%02d", i%Apps) }

// Pod returns a pod to create: the template of a workload, and labels to select by. With the server's
// additions, mainly the managed fields, it has about 8 kB.
func Pod(namespace, name string, i int) *corev1.Pod {
	running := kit.RunningPod(app(i), i)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, Labels: running.Labels, Annotations: running.Annotations, OwnerReferences: running.OwnerReferences,
		},
		Spec: running.Spec,
	}
	maps.Copy(pod.Labels, map[string]string{"app": app(i), "tier": []string{"front", "back", "batch"}[i%3], "serial": fmt.Sprint(i)})
	return pod
}
