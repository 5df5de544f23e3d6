package main

import (
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// kind is what happened to a pod.
type kind string

// The kinds of events.
const (
	added   kind = "added"
	updated kind = "updated"
	deleted kind = "deleted"
)

// event is one thing that happened to a pod.
type event struct {
	at      time.Time // when podwatch was told
	kind    kind
	pod     *corev1.Pod // as it is now, or was last; the store's own
	changed []string    // of an update
	initial bool        // the pod was there already
	lost    bool        // the delete was not seen
}

// resynced marks an update that changes nothing.
const resynced = "resync"

func newAdded(pod *corev1.Pod, initial bool) event {
	return event{at: time.Now(), kind: added, pod: pod, initial: initial}
}

func newUpdated(old, pod *corev1.Pod) event {
	return event{at: time.Now(), kind: updated, pod: pod, changed: changes(old, pod)}
}

// newDeleted takes what a handler is told of a delete: the pod in its final
// state or, where that was missed, a tombstone with what was known last.
func newDeleted(obj any) event {
	e := event{at: time.Now(), kind: deleted}
	tombstone, lost := obj.(cache.DeletedFinalStateUnknown)
	if lost {
		e.lost, obj = true, tombstone.Obj
	}
	pod, ok := obj.(*corev1.Pod)
	if !ok { // nothing but the name was known
		namespace, name, _ := cache.SplitMetaNamespaceKey(tombstone.Key)
		pod = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	e.pod = pod
	return e
}

// changes says what people want to know of the difference between two states.
func changes(old, pod *corev1.Pod) []string {
	if old.ResourceVersion == pod.ResourceVersion {
		return []string{resynced}
	}
	var changed []string
	if !maps.Equal(old.Labels, pod.Labels) {
		changed = append(changed, "labels")
	}
	if old.Status.Phase != pod.Status.Phase {
		changed = append(changed, "phase")
	}
	if ready(old) != ready(pod) {
		changed = append(changed, "ready")
	}
	if changed == nil {
		return []string{"other"}
	}
	return changed
}

// ready tells whether a pod can be sent requests.
func ready(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
