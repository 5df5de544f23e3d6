package informertest

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// beginDeletion sets an object's deletionTimestamp to the end of its grace period.
func beginDeletion(obj apiObject, now metav1.Time, period int64) {
	obj.SetDeletionTimestamp(&metav1.Time{Time: now.Add(time.Duration(period) * time.Second)})
	obj.SetDeletionGracePeriodSeconds(&period)
	if generation := obj.GetGeneration(); generation > 0 {
		obj.SetGeneration(generation + 1)
	}
}

// markGracefully is mark for kinds with grace periods. A client may ask for a period. A later deletion can
// only shorten the period.
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

// shorten shortens an object's grace period. If the new period would end in the past, it ends now; its length
// is then one second, or zero if the client has asked for zero.
func shorten(obj apiObject, now metav1.Time, period int64) {
	had := *obj.GetDeletionGracePeriodSeconds()
	end := metav1.Time{Time: obj.GetDeletionTimestamp().Add(time.Duration(period-had) * time.Second)}
	if end.Before(&now) {
		end, period = now, min(period, 1)
	}
	obj.SetDeletionTimestamp(&end)
	obj.SetDeletionGracePeriodSeconds(&period)
}

// podGrace returns the grace period of a pod. A pod that does not run on a node has none.
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
