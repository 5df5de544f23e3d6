package informertest

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// beginDeletion gives an object a deletionTimestamp, at the end of its grace period.
func beginDeletion(obj apiObject, now metav1.Time, period int64) {
	obj.SetDeletionTimestamp(&metav1.Time{Time: now.Add(time.Duration(period) * time.Second)})
	obj.SetDeletionGracePeriodSeconds(&period)
	if generation := obj.GetGeneration(); generation > 0 {
		obj.SetGeneration(generation + 1)
	}
}

// markGracefully is mark for an object of a kind with grace periods. A client may ask for a period. A
// later deletion can shorten the period, and does nothing else.
func (k kind) markGracefully(old apiObject, now metav1.Time, asked *int64, finalizers []string) (marked apiObject, kept bool) {
	if asked != nil && *asked < 0 {
		asked = new(int64(1))
	}
	marked = copyOf(old)
	had := value(old.GetDeletionGracePeriodSeconds())
	switch {
	case had == 0:
		beginDeletion(marked, now, k.grace(old, asked))
	case asked == nil || *asked >= had:
		return old, true
	default:
		shorten(marked, now, *asked)
	}
	marked.SetFinalizers(finalizers)
	return marked, len(finalizers) > 0 || *marked.GetDeletionGracePeriodSeconds() > 0
}

// shorten shortens the grace period of an object. The period does not end in the past: if it would, and
// the client has asked for one at all, a second is left.
func shorten(obj apiObject, now metav1.Time, period int64) {
	had := *obj.GetDeletionGracePeriodSeconds()
	end := metav1.Time{Time: obj.GetDeletionTimestamp().Add(time.Duration(period-had) * time.Second)}
	if end.Before(&now) {
		end, period = now, min(period, 1)
	}
	obj.SetDeletionTimestamp(&end)
	obj.SetDeletionGracePeriodSeconds(&period)
}

// podGrace returns the grace period of a pod: none, unless it runs on a node.
func podGrace(obj apiObject, asked *int64) int64 {
	pod, ok := obj.(*corev1.Pod)
	if !ok || pod.Spec.NodeName == "" || pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
		return 0
	}
	if asked != nil {
		return *asked
	}
	if own := value(pod.Spec.TerminationGracePeriodSeconds); own >= 0 {
		return own
	}
	return 1
}
