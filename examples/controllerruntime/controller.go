package main

import (
	"context"
	"log"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// readyField is the name of the index of pods by their readiness.
const readyField = "ready"

// counter prints the number of ready pods of a namespace. controller-runtime calls it for one
// namespace at a time, so it needs no lock.
type counter struct {
	cache   client.Reader
	out     *log.Logger
	printed map[string]string // by namespace
}

// setUpCounter adds the controller to a manager. Its requests are the namespaces of pods that change.
func setUpCounter(ctx context.Context, m ctrl.Manager, out *log.Logger) error {
	if err := m.GetFieldIndexer().IndexField(ctx, &corev1.Pod{}, readyField, isReady); err != nil {
		return err
	}
	namespaces := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, pod client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: pod.GetNamespace()}}}
	})
	return ctrl.NewControllerManagedBy(m).Named("counter").
		Watches(&corev1.Pod{}, namespaces).
		Complete(&counter{cache: m.GetCache(), out: out, printed: map[string]string{}})
}

// Reconcile counts the pods of the request's namespace. It reads only the cache.
func (c *counter) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	in := client.InNamespace(request.Name)
	// Without a copy, because the pods are only counted.
	var all, ready corev1.PodList
	if err := c.cache.List(ctx, &all, in, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Result{}, err
	}
	if err := c.cache.List(ctx, &ready, in, client.UnsafeDisableDeepCopy, client.MatchingFields{readyField: "true"}); err != nil {
		return reconcile.Result{}, err
	}
	found := strconv.Itoa(len(ready.Items)) + " of " + strconv.Itoa(len(all.Items))
	if c.printed[request.Name] != found {
		c.printed[request.Name] = found
		c.out.Printf("%s: %s pods are ready", request.Name, found)
	}
	return reconcile.Result{}, nil
}

// isReady returns the index values of a pod.
func isReady(o client.Object) []string {
	for _, c := range o.(*corev1.Pod).Status.Conditions {
		if c.Type == corev1.PodReady {
			return []string{strconv.FormatBool(c.Status == corev1.ConditionTrue)}
		}
	}
	return nil
}
