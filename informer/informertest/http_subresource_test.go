package informertest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
)

// Each view changes only its own part of an object.
func TestStatusIsApart(t *testing.T) {
	s := startServer(t, Options{})
	ctx, pods := t.Context(), newClient(t, s.ClientConfig()).CoreV1().Pods("a")
	pod := newPod("a", "p")
	pod.Status.Phase, pod.Status.Message = corev1.PodRunning, "I run already"
	pod, err := pods.Create(ctx, pod, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, corev1.PodStatus{Phase: corev1.PodPending}, pod.Status, "nothing is born running")

	pod.Status.Phase, pod.Spec.NodeName, pod.Labels = corev1.PodRunning, "n1", map[string]string{"x": "y"}
	stale := pod.DeepCopy()
	bound, err := pods.Update(ctx, pod, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, "n1 Pending y 2", spellPod(bound))
	bound.Status.Phase, bound.Spec.NodeName, bound.Labels = corev1.PodRunning, "n2", nil
	running, err := pods.UpdateStatus(ctx, bound, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, "n1 Running y 2", spellPod(running))
	assert.Equal(t, "4", running.ResourceVersion)

	again, err := pods.UpdateStatus(ctx, running, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, "4", again.ResourceVersion, "nothing changed")
	_, err = pods.UpdateStatus(ctx, stale, metav1.UpdateOptions{})
	assert.True(t, apierrors.IsConflict(err), err)
	_, err = pods.UpdateStatus(ctx, newPod("a", "q"), metav1.UpdateOptions{})
	assert.True(t, apierrors.IsNotFound(err), err)

	patched, err := pods.Patch(ctx, "p", types.MergePatchType, []byte(`{"spec":{"nodeName":"n3"},"status":{"phase":"Failed"}}`), metav1.PatchOptions{}, "status")
	require.NoError(t, err)
	assert.Equal(t, "n1 Failed y 2", spellPod(patched))
	patched, err = pods.Patch(ctx, "p", types.MergePatchType, []byte(`{"spec":{"nodeName":"n3"},"status":{"phase":"Running"}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	assert.Equal(t, "n3 Failed y 3", spellPod(patched))
	found, err := pods.Get(ctx, "p", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, patched, found)
	assert.Equal(t, map[string]int{"create": 1, "update": 5, "patch": 2, "get": 1}, s.Counts())

	found.Status.Phase, found.Spec.NodeName = corev1.PodSucceeded, "n4"
	require.NoError(t, s.Update(ctx, found))
	assert.Equal(t, "n4 Succeeded y 4", spellPod(found), "a test writes all at once")
}

func spellPod(p *corev1.Pod) string {
	return p.Spec.NodeName + " " + string(p.Status.Phase) + " " + p.Labels["x"] + " " + format(uint64(p.Generation))
}

func TestStatusAtBirth(t *testing.T) {
	s := startServer(t, Options{})
	ctx, client := t.Context(), newClient(t, s.ClientConfig())
	about := metav1.ObjectMeta{Name: "x"}

	node, err := client.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: about, Status: corev1.NodeStatus{Phase: corev1.NodeRunning}}, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, corev1.NodeRunning, node.Status.Phase, "a kubelet says at once how its node is")
	namespace, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: about}, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, corev1.NamespaceActive, namespace.Status.Phase)
	namespace.Status.Phase = corev1.NamespaceTerminating
	namespace, err = client.CoreV1().Namespaces().UpdateStatus(ctx, namespace, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, corev1.NamespaceTerminating, namespace.Status.Phase)
	claim, err := client.CoreV1().PersistentVolumeClaims("x").Create(ctx, &corev1.PersistentVolumeClaim{ObjectMeta: about}, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, corev1.ClaimPending, claim.Status.Phase)
	deployment, err := client.AppsV1().Deployments("x").Create(ctx, &appsv1.Deployment{ObjectMeta: about, Status: appsv1.DeploymentStatus{Replicas: 3}}, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Zero(t, deployment.Status)
}

func TestScale(t *testing.T) {
	s := startServer(t, Options{})
	ctx, client := t.Context(), newClient(t, protobufConfig(s))
	deployments := client.AppsV1().Deployments("a")
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "d"}}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	d.Status.Replicas = 2
	require.NoError(t, s.Create(ctx, d))

	found, err := deployments.GetScale(ctx, "d", metav1.GetOptions{})
	require.NoError(t, err)
	want := &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "d", UID: d.UID, ResourceVersion: "2", CreationTimestamp: found.CreationTimestamp},
		Spec:       autoscalingv1.ScaleSpec{Replicas: 1},
		Status:     autoscalingv1.ScaleStatus{Replicas: 2, Selector: "app=web"},
	}
	assert.Equal(t, want, found)

	found.Spec.Replicas = 3
	scaled, err := deployments.UpdateScale(ctx, "d", found, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.EqualValues(t, 3, scaled.Spec.Replicas)
	assert.Equal(t, "3", scaled.ResourceVersion)
	_, err = deployments.UpdateScale(ctx, "d", found, metav1.UpdateOptions{})
	assert.True(t, apierrors.IsConflict(err), err)
	scaled.Spec.Replicas = -1
	_, err = deployments.UpdateScale(ctx, "d", scaled, metav1.UpdateOptions{})
	require.True(t, apierrors.IsInvalid(err), err)
	assert.ErrorContains(t, err, `Scale.autoscaling "d" is invalid: spec.replicas`)
	_, err = deployments.GetScale(ctx, "e", metav1.GetOptions{})
	assert.True(t, apierrors.IsNotFound(err), err)

	err = client.AppsV1().RESTClient().Patch(types.StrategicMergePatchType).Namespace("a").Resource("deployments").Name("d").
		SubResource("scale").Body([]byte(`{"spec":{"replicas":5}}`)).Do(ctx).Into(scaled)
	require.NoError(t, err)
	assert.EqualValues(t, 5, scaled.Spec.Replicas)
	require.NoError(t, s.Get(ctx, "a", "d", d))
	assert.EqualValues(t, 5, *d.Spec.Replicas)
	assert.EqualValues(t, 3, d.Generation)
	assert.EqualValues(t, 2, d.Status.Replicas)
}

// The scale client asks discovery which kind of scale to send.
func TestScaleClient(t *testing.T) {
	s := startServer(t, Options{})
	ctx, client := t.Context(), newClient(t, s.ClientConfig())
	groups, err := restmapper.GetAPIGroupResources(client.Discovery())
	require.NoError(t, err)
	scales, err := scale.NewForConfig(s.ClientConfig(), restmapper.NewDiscoveryRESTMapper(groups), dynamic.LegacyAPIPathResolverFunc,
		scale.NewDiscoveryScaleKindResolver(client.Discovery()))
	require.NoError(t, err)
	rc := &corev1.ReplicationController{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "r"}}
	rc.Spec.Selector = map[string]string{"app": "web"}
	require.NoError(t, s.Create(ctx, rc))

	found, err := scales.Scales("a").Get(ctx, schema.GroupResource{Resource: "replicationcontrollers"}, "r", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, "app=web", found.Status.Selector)
	found.Spec.Replicas = 4
	found, err = scales.Scales("a").Update(ctx, schema.GroupResource{Resource: "replicationcontrollers"}, found, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.EqualValues(t, 4, found.Spec.Replicas)
}

func TestSelectorsOfScales(t *testing.T) {
	assert.Empty(t, spellSelector(nil))
	assert.Empty(t, spellSelector((*metav1.LabelSelector)(nil)))
	assert.Empty(t, spellSelector(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "x", Operator: "?"}}}))
}

func TestPartsThatAreNotThere(t *testing.T) {
	assert.False(t, goField(&corev1.Node{}, "Spec", "Unschedulable", "x").IsValid())
	assert.False(t, canScale(&corev1.Secret{}))
	assert.False(t, canScale(&corev1.Pod{}))
	assert.True(t, canScale(&appsv1.StatefulSet{}))
	own := runtime.NewScheme()
	require.NoError(t, appsv1.AddToScheme(own))
	s := New(Options{Scheme: own})
	defer s.Close()
	require.NoError(t, s.Create(t.Context(), &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "r"}}))
	_, scaled := sendRequest[autoscalingv1.Scale](t, s, "PUT", "/apis/apps/v1/namespaces/a/replicasets/r/scale",
		`{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"r"},"spec":{"replicas":2}}`)
	assert.EqualValues(t, 2, scaled.Spec.Replicas, "also where the scheme knows no scales")
}
