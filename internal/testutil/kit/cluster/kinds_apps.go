package cluster

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// template returns the pod template of a workload.
func (o *owner) template() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: o.labels, Annotations: o.annotations}, Spec: o.spec}
}

// own gives an object the metadata of a workload, and returns the workload's selector.
func (o *owner) own(m *metav1.ObjectMeta) *metav1.LabelSelector {
	m.Namespace, m.Name, m.UID, m.CreationTimestamp, m.Labels = o.namespace, o.name, o.uid, o.born, o.labels
	m.Generation = 1
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": o.app}}
}

// replicaSet returns a ReplicaSet of a deployment. Most are old, with few replicas.
func (m *Cluster) replicaSet(c chance, meta metav1.ObjectMeta, i int) Object {
	o := newOwner(m.seed, replicaSet, i)
	selector := o.own(&meta)
	meta.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "apps/v1", Kind: "Deployment", Name: o.app, UID: c.uid(), Controller: new(true), BlockOwnerDeletion: new(true),
	}}
	n := int32(c.few(0, 20))
	return &appsv1.ReplicaSet{
		TypeMeta: of(appsv1.SchemeGroupVersion, "ReplicaSet"), ObjectMeta: meta,
		Spec:   appsv1.ReplicaSetSpec{Replicas: new(n), Selector: selector, Template: o.template()},
		Status: appsv1.ReplicaSetStatus{Replicas: n, ReadyReplicas: n, AvailableReplicas: n, FullyLabeledReplicas: n, ObservedGeneration: 1},
	}
}

func (m *Cluster) deployment(c chance, meta metav1.ObjectMeta, i int) Object {
	o := newOwner(m.seed, replicaSet, i)
	selector := o.own(&meta)
	meta.Name, meta.UID = o.app, c.uid()
	n, most := int32(c.few(1, 20)), intstr.FromString("25%")
	condition := func(of appsv1.DeploymentConditionType, reason, message string) appsv1.DeploymentCondition {
		return appsv1.DeploymentCondition{Type: of, Status: corev1.ConditionTrue, Reason: reason, Message: message, LastUpdateTime: after(o.born, c.IntN(600)), LastTransitionTime: o.born}
	}
	return &appsv1.Deployment{
		TypeMeta: of(appsv1.SchemeGroupVersion, "Deployment"), ObjectMeta: meta,
		Spec: appsv1.DeploymentSpec{
			Replicas: new(n), Selector: selector, Template: o.template(), RevisionHistoryLimit: new(int32(10)), ProgressDeadlineSeconds: new(int32(600)),
			Strategy: appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &most, MaxUnavailable: &most}},
		},
		Status: appsv1.DeploymentStatus{
			Replicas: n, ReadyReplicas: n, AvailableReplicas: n, UpdatedReplicas: n, ObservedGeneration: 1,
			Conditions: []appsv1.DeploymentCondition{
				condition(appsv1.DeploymentAvailable, "MinimumReplicasAvailable", "Deployment has minimum availability."),
				condition(appsv1.DeploymentProgressing, "NewReplicaSetAvailable", fmt.Sprintf("ReplicaSet %q has successfully progressed.", o.name)),
			},
		},
	}
}

func (m *Cluster) statefulSet(c chance, meta metav1.ObjectMeta, i int) Object {
	o := newOwner(m.seed, statefulSet, i)
	selector := o.own(&meta)
	n := int32(c.few(1, 9))
	return &appsv1.StatefulSet{
		TypeMeta: of(appsv1.SchemeGroupVersion, "StatefulSet"), ObjectMeta: meta,
		Spec:   appsv1.StatefulSetSpec{Replicas: new(n), Selector: selector, Template: o.template(), ServiceName: o.name, PodManagementPolicy: appsv1.OrderedReadyPodManagement},
		Status: appsv1.StatefulSetStatus{Replicas: n, ReadyReplicas: n, AvailableReplicas: n, CurrentReplicas: n, UpdatedReplicas: n, ObservedGeneration: 1},
	}
}

func (m *Cluster) daemonSet(_ chance, meta metav1.ObjectMeta, i int) Object {
	o := newOwner(m.seed, daemonSet, i)
	selector := o.own(&meta)
	return &appsv1.DaemonSet{
		TypeMeta: of(appsv1.SchemeGroupVersion, "DaemonSet"), ObjectMeta: meta,
		Spec:   appsv1.DaemonSetSpec{Selector: selector, Template: o.template()},
		Status: appsv1.DaemonSetStatus{DesiredNumberScheduled: nodes, CurrentNumberScheduled: nodes, NumberReady: nodes, NumberAvailable: nodes, ObservedGeneration: 1},
	}
}

func (m *Cluster) job(c chance, meta metav1.ObjectMeta, i int) Object {
	o := newOwner(m.seed, job, i)
	selector := o.own(&meta)
	end := after(o.born, c.between(5, 5000))
	return &batchv1.Job{
		TypeMeta: of(batchv1.SchemeGroupVersion, "Job"), ObjectMeta: meta,
		Spec: batchv1.JobSpec{
			Parallelism: new(int32(1)), Completions: new(int32(1)), BackoffLimit: new(int32(6)), Selector: selector, Template: o.template(),
			CompletionMode: new(batchv1.NonIndexedCompletion), Suspend: new(false),
		},
		Status: batchv1.JobStatus{StartTime: &o.born, CompletionTime: &end, Succeeded: 1, Conditions: []batchv1.JobCondition{{
			Type: batchv1.JobComplete, Status: corev1.ConditionTrue, Reason: "CompletionsReached", LastProbeTime: end, LastTransitionTime: end,
		}}},
	}
}
