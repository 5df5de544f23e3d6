package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// widgetField is the name of the index of pods by the Widget that owns them.
const widgetField = "widget"

// fleet creates the pods of Widgets, makes them ready, and deletes them. It reads the cache and writes
// to the server.
type fleet struct{ client.Client }

// setUp adds the controller to a manager. A change of a Widget or of one of its pods enqueues a request
// for the Widget.
func setUp(ctx context.Context, m ctrl.Manager) error {
	err := m.GetFieldIndexer().IndexField(ctx, &corev1.Pod{}, widgetField, func(o client.Object) []string {
		if owner := metav1.GetControllerOf(o); owner != nil && owner.Kind == "Widget" {
			return []string{owner.Name}
		}
		return nil
	})
	if err != nil {
		return err
	}
	// At most 5 seconds, so that the end of an outage is noticed soon.
	patience := workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](10*time.Millisecond, 5*time.Second)
	return ctrl.NewControllerManagedBy(m).Named("fleet").
		For(&Widget{}).
		Owns(&corev1.Pod{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: 4, RateLimiter: patience}).
		Complete(&fleet{m.GetClient()})
}

// Reconcile makes the pods of a Widget match its spec. The cache may be behind. Then the server refuses
// an outdated write, or a later event enqueues another request.
func (f *fleet) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var w Widget
	if err := f.Get(ctx, request.NamespacedName, &w); client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, err
	}
	// A deleted Widget has no UID and no replicas, so that all its pods are deleted.
	var pods corev1.PodList
	if err := f.List(ctx, &pods, client.InNamespace(request.Namespace), client.MatchingFields{widgetField: request.Name}); err != nil {
		return reconcile.Result{}, err
	}
	wanted := map[string]bool{}
	for i := range w.Spec.Replicas {
		wanted[fmt.Sprintf("%s-%d", w.Name, i)] = true
	}
	var failed error
	for i := range pods.Items {
		pod := &pods.Items[i]
		keep := wanted[pod.Name] && metav1.IsControlledBy(pod, &w) && pod.Spec.Containers[0].Image == w.Spec.Image
		failed = errors.Join(failed, f.look(ctx, pod, keep))
		delete(wanted, pod.Name) // the event of the deletion enqueues the request that recreates the pod
	}
	for name := range wanted {
		failed = errors.Join(failed, f.add(ctx, &w, name))
	}
	return reconcile.Result{}, failed
}

// look makes a pod ready, or deletes it.
func (f *fleet) look(ctx context.Context, pod *corev1.Pod, keep bool) error {
	switch {
	case !keep:
		return client.IgnoreNotFound(f.Delete(ctx, pod, client.Preconditions{UID: &pod.UID}))
	case len(pod.Status.Conditions) > 0:
		return nil
	}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	return client.IgnoreNotFound(f.Status().Update(ctx, pod))
}

// add creates a pod of a Widget.
func (f *fleet) add(ctx context.Context, w *Widget, name string) error {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name, OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "example.com/v1", Kind: "Widget", Name: w.Name, UID: w.UID, Controller: new(true),
		}}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "widget", Image: w.Spec.Image}}},
	}
	if err := f.Create(ctx, pod); !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil // its event will arrive
}
