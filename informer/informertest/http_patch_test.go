package informertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// spellContainers describes a pod's containers as "name=image".
func spellContainers(p *corev1.Pod) string {
	var spelled []string
	for _, c := range p.Spec.Containers {
		spelled = append(spelled, c.Name+"="+c.Image)
	}
	return strings.Join(spelled, " ")
}

func TestPatches(t *testing.T) {
	s := startServer(t, Options{})
	ctx := t.Context()
	pod := newPod("a", "p", "app", "web")
	pod.Spec.Containers = []corev1.Container{{Name: "a", Image: "1"}, {Name: "b", Image: "1"}}
	require.NoError(t, s.Create(ctx, pod))
	pods := newClient(t, protobufConfig(s)).CoreV1().Pods("a") // a patch is in JSON even so

	for i, row := range []struct {
		form           types.PatchType
		body           string
		app, container string
	}{
		{types.JSONPatchType, `[{"op":"test","path":"/metadata/labels/app","value":"web"},{"op":"replace","path":"/metadata/labels/app","value":"db"}]`, "db", "a=1 b=1"},
		{types.MergePatchType, `{"metadata":{"labels":{"app":null}}}`, "", "a=1 b=1"},
		{types.StrategicMergePatchType, `{"spec":{"containers":[{"name":"b","image":"2"}]}}`, "", "a=1 b=2"},
		{types.StrategicMergePatchType, `{"spec":{"containers":[{"name":"a","$patch":"delete"}]}}`, "", "b=2"},
		{types.MergePatchType, `{"spec":{"containers":[{"name":"c","image":"3"}]},"metadata":{"labels":{"app":"x"},"resourceVersion":"6"}}`, "x", "c=3"},
	} {
		patched, err := pods.Patch(ctx, "p", row.form, []byte(row.body), metav1.PatchOptions{})
		require.NoError(t, err, row.body)
		assert.Equal(t, format(uint64(i+3)), patched.ResourceVersion, row.body)
		assert.Equal(t, row.app, patched.Labels["app"], row.body)
		assert.Equal(t, row.container, spellContainers(patched), row.body)
	}
	same, err := pods.Patch(ctx, "p", types.StrategicMergePatchType, []byte(`{"metadata":{"labels":{"app":"x"}}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	assert.Equal(t, "7", same.ResourceVersion, "nothing changed")
	assert.Equal(t, map[string]int{"patch": 6}, s.Counts())
}

func TestPatchesThatAreRefused(t *testing.T) {
	s := New(Options{})
	defer s.Close()
	require.NoError(t, s.Register(cronKind))
	bare := newPod("a", "p")
	bare.Spec.Containers = []corev1.Container{}
	require.NoError(t, s.Create(t.Context(), bare))
	require.NoError(t, s.Create(t.Context(), newCron("a", "c", "daily")))
	const pod, cron = "/api/v1/namespaces/a/pods/", "/apis/example.com/v1/namespaces/a/crons/"
	const patch, merge, strategic = types.JSONPatchType, types.MergePatchType, types.StrategicMergePatchType
	for _, row := range []struct {
		path string
		form types.PatchType
		body string
		code int
		says string
	}{
		{pod + "q", merge, `{}`, 404, `pods "q" not found`},
		{pod + "p", merge, `{"metadata":{"resourceVersion":"1"}}`, 409, "the object has been modified"},
		{pod + "p", strategic, `{"metadata":{"resourceVersion":"1"}}`, 409, "the object has been modified"},
		{pod + "p", merge, `{"metadata":{"uid":"x"}}`, 422, "metadata.uid: Invalid value: \"x\": field is immutable"},
		{pod + "p", merge, `{"metadata":{"name":"q"}}`, 400, "the name of the object (q) does not match"},
		{pod + "p", merge, `{"metadata":{"namespace":"b"}}`, 400, "the namespace of the provided object"},
		{pod + "p", merge, `{"metadata":{"labels":{"x":"y z"}}}`, 422, "metadata.labels"},
		{pod + "p", merge, `{"metadata":{"labels":5}}`, 422, "patch: Invalid value"},
		{pod + "p", merge, `{`, 400, "Invalid JSON Patch"},
		{pod + "p", patch, `{}`, 400, "cannot unmarshal"},
		{pod + "p", patch, `[{"op":"test","path":"/metadata/name","value":"q"}]`, 422, "the server rejected our request"},
		{pod + "p", strategic, `[]`, 400, "invalid JSON document"},
		{pod + "p", strategic, `{"spec":{"containers":[["y"]]}}`, 422, "the server rejected our request"},
		{pod + "p", strategic, `{"spec":{"containers":[null]}}`, 400, "cannot apply the patch"},
		{pod + "p", strategic, `{"spec":{"containers":["y",5]}}`, 400, "list element types are not identical"},
		{pod + "p", merge, strings.Repeat(" ", maxBody+1), 413, "limit"},
		{pod + "p?dryRun=Some", merge, `{}`, 422, "dryRun: Unsupported value"},
		{pod + "p", types.ApplyYAMLPatchType, `{}`, 422, "fieldManager: Required value"},
		{pod + "p?fieldManager=x", types.ApplyYAMLPatchType, `{}`, 400, "invalid object type"},
		{pod + "p?fieldManager=x", types.ApplyYAMLPatchType, "a: b: c", 400, "mapping values are not allowed"},
		{pod + "p?fieldManager=x", types.ApplyYAMLPatchType, `[]`, 400, "cannot unmarshal"},
		{pod + "p?fieldManager=x", types.ApplyYAMLPatchType, `{"apiVersion":"v1","kind":"Pod","metadata":{"labels":5}}`, 400, "cannot unmarshal"},
		{pod + "p?fieldManager=x", types.ApplyYAMLPatchType, `{"apiVersion":"v1","kind":"Pod","spec":{"x":5}}`, 500, "field not declared in schema"},
		{pod + "p?fieldManager=x", types.ApplyYAMLPatchType, `{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"b"}}`, 400, "the namespace of the provided object"},
		{pod + "p?fieldManager=x", types.ApplyYAMLPatchType, `{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"x":"y z"}}}`, 422, "metadata.labels"},
		{pod + "none?fieldManager=x", types.ApplyYAMLPatchType, `{"apiVersion":"v1","kind":"Pod"}`, 400, "does not match the name on the URL"},
		{pod + "none/status?fieldManager=x", types.ApplyYAMLPatchType, `{"apiVersion":"v1","kind":"Pod"}`, 404, "not found"},
		{pod + "none?fieldManager=x", types.ApplyYAMLPatchType, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"none","resourceVersion":"1"}}`, 500, "resourceVersion should not be set"},
		{cron + "c?fieldManager=x", types.ApplyYAMLPatchType, `{"apiVersion":"example.com/v2","kind":"Cron","metadata":{"name":"c"}}`, 400, "invalid object type"},
		{pod + "p", types.ApplyCBORPatchType, `{}`, 415, "accepted media types"},
		{pod + "p", "application/json", `{}`, 415, "accepted media types"},
		{cron + "c", strategic, `{}`, 415, "application/merge-patch+json"},
		{cron + "c", merge, `{"metadata":{"labels":{"x":1}}}`, 400, "cannot unmarshal number"},
		{cron + "c", merge, `{"kind":null}`, 422, "Object 'Kind' is missing"},
	} {
		answer, status := sendRequest[metav1.Status](t, s, "PATCH", row.path, row.body, "Content-Type", string(row.form))
		name := fmt.Sprintf("%s %s %.60s: %s", row.path, row.form, row.body, status.Message)
		assert.Equal(t, row.code, answer.Code, name)
		assert.Contains(t, status.Message, row.says, name)
	}
}
