package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/informer"
)

// aDay makes several changes of one pod, and waits for an output after each.
func aDay(t *testing.T, await [5]string, args ...string) program {
	s := startServer(t)
	pod := newPod("shop", "web", "web")
	require.NoError(t, s.Create(t.Context(), pod))
	p := start(t, append(args, "--kubeconfig", writeKubeconfig(t, s.ClientConfig().Host))...)
	p.prints(t, await[0])
	p.becomes(t, s, pod, func(pod *corev1.Pod) { begin(pod); pod.Spec.NodeName = "node-1" }, await[1])
	p.becomes(t, s, pod, retire, await[2])
	p.becomes(t, s, pod, func(pod *corev1.Pod) { pod.Annotations = map[string]string{"a": "b"} }, await[3])
	require.NoError(t, s.Delete(t.Context(), pod))
	p.prints(t, await[4])
	p.interrupt()
	assert.Zero(t, <-p.exit)
	return p
}

func TestJSON(t *testing.T) {
	p := aDay(t, [5]string{`"initial":true`, `"ready":true`, `"labels"\]`, `"other"\]`, `"deleted"`}, "--output", "json")
	var got []map[string]any
	for line := range strings.Lines(p.stdout.String()) {
		var object map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &object), "the output is nothing but objects")
		at, err := time.Parse(time.RFC3339Nano, object["time"].(string))
		require.NoError(t, err)
		assert.False(t, at.IsZero())
		assert.NotEmpty(t, object["uid"])
		delete(object, "time")
		delete(object, "uid")
		got = append(got, object)
	}
	object := func(event, version, phase, node string, ready, initial bool, labels map[string]any, changed ...any) map[string]any {
		if changed == nil {
			changed = []any{}
		}
		return map[string]any{"event": event, "namespace": "shop", "name": "web", "resourceVersion": version, "phase": phase, "node": node,
			"ready": ready, "labels": labels, "changed": changed, "initial": initial, "lost": false}
	}
	stable, retired := map[string]any{"app": "web"}, map[string]any{"app": "web", "track": "retiring"}
	assert.Equal(t, []map[string]any{
		object("added", "2", "", "", false, true, stable),
		object("updated", "3", "Running", "node-1", true, false, stable, "phase", "ready"),
		object("updated", "4", "Running", "node-1", true, false, retired, "labels"),
		object("updated", "5", "Running", "node-1", true, false, retired, "other"),
		object("deleted", "6", "Running", "node-1", true, false, retired),
	}, got)
	assert.Regexp(t, `^\npodwatch ran for .*\n  events     5: 1 added, 3 updated, 1 deleted\n`, p.stderr)
}

// The fields are part of the interface: their names and order must not change, and none may be missing.
func TestJSONOfNearlyNothing(t *testing.T) {
	out := newTranscript()
	at := time.Date(2026, 1, 31, 12, 0, 0, 0, time.FixedZone("", 3600))
	require.NoError(t, json.NewEncoder(out).Encode(newRecord(change{Kind: informer.Deleted, Old: &corev1.Pod{}, Lost: true}, at)))
	assert.Equal(t, `{"time":"2026-01-31T11:00:00Z","event":"deleted","namespace":"","name":"","uid":"","resourceVersion":"","phase":"",`+
		`"ready":false,"node":"","labels":{},"changed":[],"initial":false,"lost":true}`+"\n", out.String())
}

// begin marks a pod as running.
func begin(pod *corev1.Pod) {
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
}

// retire labels a pod.
func retire(pod *corev1.Pod) { pod.Labels["track"] = "retiring" }

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
			assert.Equal(t, row.want, changes(change{Kind: informer.Updated, Old: old, New: pod}))
		})
	}
	t.Run("resync", func(t *testing.T) {
		pod := newPod("shop", "web", "web")
		assert.Equal(t, []string{"resync"}, changes(change{Kind: informer.Updated, Old: pod, New: pod}))
	})
}
