package cluster

import (
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// owner is a workload, and the fields that its pods have in common.
type owner struct {
	kind      schema.GroupVersionKind
	namespace string
	app       string // the application's name
	name      string // the owner's own name
	hash      string // the hash of a ReplicaSet's template
	uid       types.UID
	born      metav1.Time
	day       int

	labels, annotations map[string]string
	spec                corev1.PodSpec
	fields              string // the FieldsV1 of the controller manager in each pod
}

// The kinds of workloads.
var (
	replicaSet  = appsv1.SchemeGroupVersion.WithKind("ReplicaSet")
	statefulSet = appsv1.SchemeGroupVersion.WithKind("StatefulSet")
	daemonSet   = appsv1.SchemeGroupVersion.WithKind("DaemonSet")
	job         = batchv1.SchemeGroupVersion.WithKind("Job")
)

// kindOf returns the kind of the i-th workload. Thirteen of twenty are ReplicaSets.
func kindOf(i int) schema.GroupVersionKind {
	switch i % 20 {
	case 3, 9, 16:
		return statefulSet
	case 6, 14:
		return daemonSet
	case 11, 18:
		return job
	}
	return replicaSet
}

// newOwner returns the i-th workload of a kind.
func newOwner(seed uint64, kind schema.GroupVersionKind, i int) *owner {
	c := newChance(seed, kind.Kind, i)
	division := pick(c, divisions)
	o := &owner{
		kind: kind, namespace: Namespace(c.IntN(Namespaces)), uid: c.uid(), day: c.IntN(300),
		app: fmt.Sprintf("%s-%s-%d", pick(c, domains), pick(c, parts), i),
	}
	o.name, o.born = o.app, c.day(o.day)
	switch kind {
	case replicaSet:
		o.hash = c.text(safe, 10)
		o.name += "-" + o.hash
	case job:
		o.name += fmt.Sprintf("-%d", 29_000_000+c.IntN(500_000))
	}
	o.labels, o.annotations = c.podLabels(o, division), c.podAnnotations(o.app)
	o.spec = c.podSpec(o, division)
	o.fields = o.controllerFields()
	return o
}

func (c chance) podLabels(o *owner, division string) map[string]string {
	labels := map[string]string{
		"app": o.app, "app.kubernetes.io/managed-by": pick(c, []string{"Helm", "argocd", "flux"}), "tier": pick(c, tiers),
	}
	if c.oneIn(3) {
		labels["app.kubernetes.io/name"] = o.app
		labels["app.kubernetes.io/version"] = fmt.Sprintf("%d.%d.%d", c.IntN(9), c.IntN(60), c.IntN(30))
		labels["app.kubernetes.io/part-of"] = division + "-suite"
	}
	switch o.kind {
	case replicaSet:
		labels["pod-template-hash"] = o.hash
	case statefulSet, daemonSet:
		labels["controller-revision-hash"] = o.app + "-" + c.text(safe, 10)
	case job:
		labels["batch.kubernetes.io/job-name"], labels["job-name"] = o.name, o.name
		labels["batch.kubernetes.io/controller-uid"], labels["controller-uid"] = string(o.uid), string(o.uid)
	}
	return labels
}

func (c chance) podAnnotations(app string) map[string]string {
	annotations := map[string]string{"checksum/config": c.hex(64)}
	if c.oneIn(3) {
		maps.Copy(annotations, map[string]string{"prometheus.io/scrape": "true", "prometheus.io/port": "9090", "prometheus.io/path": "/metrics"})
	}
	if c.oneIn(3) {
		annotations["kubectl.kubernetes.io/restartedAt"] = c.day(300).Format("2006-01-02T15:04:05Z07:00")
	}
	if c.oneIn(5) {
		annotations["sidecar.mesh.example.com/status"] = fmt.Sprintf(
			`{"initContainers":["mesh-init"],"containers":["mesh-proxy"],"volumes":["workload-socket","mesh-envoy","mesh-data","mesh-podinfo","mesh-token","mesh-ca-cert"],"imagePullSecrets":null,"revision":%q}`, c.hex(8))
		annotations["proxy.mesh.example.com/config"] = fmt.Sprintf(
			`{"concurrency":%d,"discoveryAddress":"mesh.%s.svc:15012","drainDuration":"%ds","holdApplicationUntilProxyStarts":true}`, c.between(1, 4), app, c.between(5, 60))
	}
	return annotations
}

// reference returns the owner references of a pod.
func (o *owner) reference() []metav1.OwnerReference {
	return []metav1.OwnerReference{{
		APIVersion: o.kind.GroupVersion().String(), Kind: o.kind.Kind, Name: o.name, UID: o.uid,
		Controller: new(true), BlockOwnerDeletion: new(true),
	}}
}
