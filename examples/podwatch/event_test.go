package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

func TestChanges(t *testing.T) {
	conditions := func(kind corev1.PodConditionType, status corev1.ConditionStatus) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}, {Type: kind, Status: status}}
		}
	}
	for _, row := range []struct {
		name string
		edit func(*corev1.Pod)
		want []string
	}{
		{"labels", func(pod *corev1.Pod) { pod.Labels["app"] = "db" }, []string{"labels"}},
		{"no labels", func(pod *corev1.Pod) { pod.Labels = nil }, []string{"labels"}},
		{"phase", func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed }, []string{"phase"}},
		{"ready", conditions(corev1.PodReady, corev1.ConditionTrue), []string{"ready"}},
		{"not ready", conditions(corev1.PodReady, corev1.ConditionFalse), []string{"other"}},
		{"another condition", conditions(corev1.PodInitialized, corev1.ConditionTrue), []string{"other"}},
		{"begin", begin, []string{"phase", "ready"}},
		{"all", func(pod *corev1.Pod) { begin(pod); pod.Labels["new"] = "" }, []string{"labels", "phase", "ready"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			old := newPod("shop", "web", "web")
			old.ResourceVersion = "1"
			pod := old.DeepCopy()
			pod.ResourceVersion = "2"
			row.edit(pod)
			assert.Equal(t, row.want, newUpdated(old, pod).changed)
		})
	}
	t.Run("resync", func(t *testing.T) {
		pod := newPod("shop", "web", "web")
		assert.Equal(t, []string{"resync"}, newUpdated(pod, pod).changed)
	})
}

func TestTombstones(t *testing.T) {
	pod := newPod("shop", "web", "web")
	seen := newDeleted(pod)
	assert.Same(t, pod, seen.pod)
	assert.False(t, seen.lost)

	missed := newDeleted(cache.DeletedFinalStateUnknown{Key: "shop/web", Obj: pod})
	assert.Same(t, pod, missed.pod)
	assert.True(t, missed.lost)

	unknown := newDeleted(cache.DeletedFinalStateUnknown{Key: "shop/web"})
	assert.Equal(t, "shop", unknown.pod.Namespace)
	assert.Equal(t, "web", unknown.pod.Name)
	assert.True(t, unknown.lost)
}
