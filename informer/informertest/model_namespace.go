package informertest

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A Namespace has finalizers in its spec, in addition to those in its metadata. A client's first deletion
// only marks the Namespace as terminating, whatever finalizers it has. In a cluster, the namespace controller
// then empties it, and removes the finalizer "kubernetes" through the subresource finalize.

// heldBySpec reports whether the finalizers in an object's spec keep it.
func (k kind) heldBySpec(obj apiObject) bool {
	return k.specFinalizers && len(obj.(*corev1.Namespace).Spec.Finalizers) > 0
}

// holdBySpec adds the finalizer "kubernetes" to a Namespace that a client creates.
func holdBySpec(obj apiObject) {
	spec := &obj.(*corev1.Namespace).Spec
	if !slices.Contains(spec.Finalizers, corev1.FinalizerKubernetes) {
		spec.Finalizers = append(spec.Finalizers, corev1.FinalizerKubernetes)
	}
}

// keepSpecFinalizers copies the finalizers in the spec of a Namespace from old to obj.
func keepSpecFinalizers(obj, old apiObject) {
	obj.(*corev1.Namespace).Spec.Finalizers = old.(*corev1.Namespace).Spec.Finalizers
}

// terminate returns a Namespace as its first deletion leaves it: with a deletionTimestamp, but without a
// grace period.
func terminate(old apiObject, now metav1.Time, finalizers []string) apiObject {
	marked := copyOf(old).(*corev1.Namespace)
	marked.DeletionTimestamp = &now
	marked.Finalizers = finalizers
	marked.Status.Phase = corev1.NamespaceTerminating
	return marked
}
