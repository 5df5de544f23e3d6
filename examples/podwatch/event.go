package main

import (
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// kind is the kind of an event.
type kind string

// The kinds of events.
const (
	added   kind = "added"
	updated kind = "updated"
	deleted kind = "deleted"
)

// event is a change of a pod.
type event struct {
	at      time.Time // when the handler was called
	kind    kind
	pod     *corev1.Pod // the current or last state; shared with the store
	changed []string    // for an update
	initial bool        // the pod existed already
	lost    bool        // the deletion was not observed
}

// resynced marks an update that changes nothing.
const resynced = "resync"

func newAdded(pod *corev1.Pod, initial bool) event {
	return event{at: time.Now(), kind: added, pod: pod, initial: initial}
}

func newUpdated(old, pod *corev1.Pod) event {
	return event{at: time.Now(), kind: updated, pod: pod, changed: changes(old, pod)}
}

// newDeleted takes the argument of a handler's OnDelete: the pod in its final state or, if that was
// missed, a tombstone with the last known state.
func newDeleted(obj any) event {
	e := event{at: time.Now(), kind: deleted}
	tombstone, lost := obj.(cache.DeletedFinalStateUnknown)
	if lost {
		e.lost, obj = true, tombstone.Obj
	}
	pod, ok := obj.(*corev1.Pod)
	if !ok { // only the name is known
		namespace, name, _ := cache.SplitMetaNamespaceKey(tombstone.Key)
		pod = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	e.pod = pod
	return e
}

// changes summarizes the difference between two states.
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

// ready reports whether a pod is ready.
func ready(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
