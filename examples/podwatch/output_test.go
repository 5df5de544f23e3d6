package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
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

func TestWide(t *testing.T) {
	p := aDay(t, [5]string{"initial$", "phase,ready$", "labels$", "other$", "deleted "}, "--output", "wide")
	lines := strings.Split(p.stdout.String(), "\n")
	assert.Equal(t, "TIME                 EVENT    POD                                            PHASE      NODE             CHANGED", lines[0])
	const blank = "                                     "
	for i, want := range []string{
		`added    shop/web` + blank + `  -          -                initial`,
		`updated  shop/web` + blank + `  Running    node-1           phase,ready`,
		`updated  shop/web` + blank + `  Running    node-1           labels`,
		`updated  shop/web` + blank + `  Running    node-1           other`,
		`deleted  shop/web` + blank + `  Running    node-1           -`,
	} {
		assert.Regexp(t, stamp+" "+want+"$", lines[i+1])
	}
	assert.Contains(t, p.stdout.String(), "\npodwatch ran for ")
	assert.Empty(t, p.stderr.String())
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

// The fields are part of the interface: names and order stay, and no field is left out.
func TestJSONOfNearlyNothing(t *testing.T) {
	out := newTranscript()
	jsonLines(out)(event{kind: deleted, pod: &corev1.Pod{}, lost: true, at: time.Date(2026, 1, 31, 12, 0, 0, 0, time.FixedZone("", 3600))})
	assert.Equal(t, `{"time":"2026-01-31T11:00:00Z","event":"deleted","namespace":"","name":"","uid":"","resourceVersion":"","phase":"",`+
		`"ready":false,"node":"","labels":{},"changed":[],"initial":false,"lost":true}`+"\n", out.String())
}
