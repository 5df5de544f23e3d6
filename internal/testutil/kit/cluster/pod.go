package cluster

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Pod returns the i-th pod as the server returns it when the pod is running: the template of its owner,
// plus the fields of admission, the scheduler and a kubelet.
func (m *Cluster) Pod(i int) *corev1.Pod {
	c, slot := newChance(m.seed, "Pod", i), m.slots[i]
	o := slot.owner
	pod := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: o.namespace, UID: c.uid(), Generation: 1, CreationTimestamp: c.day(c.between(o.day, 301)),
			Labels: maps.Clone(o.labels), Annotations: maps.Clone(o.annotations), OwnerReferences: o.reference(),
		},
		Spec: *o.spec.DeepCopy(),
	}
	pod.Spec.NodeName = nodeName(c.IntN(nodes))
	c.name(pod, slot, i)
	c.admit(&pod.Spec)
	c.annotate(pod)
	c.addStatus(pod)
	c.addManagers(pod, o)
	return pod
}

// name names a pod like the controllers of its kind do.
func (c chance) name(pod *corev1.Pod, slot slot, i int) {
	switch o := slot.owner; o.kind {
	case statefulSet:
		pod.Name = fmt.Sprintf("%s-%d", o.name, slot.ordinal)
		pod.Spec.Hostname, pod.Spec.Subdomain = pod.Name, o.name
		pod.Labels["statefulset.kubernetes.io/pod-name"] = pod.Name
		pod.Labels["apps.kubernetes.io/pod-index"] = fmt.Sprint(slot.ordinal)
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-" + pod.Name},
		}})
		mount(pod.Spec.Containers[:1], corev1.VolumeMount{Name: "data", MountPath: "/var/lib/data"})
	case daemonSet:
		pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{
				Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{pod.Spec.NodeName},
			}}}},
		}}}
		fallthrough
	default:
		pod.GenerateName = o.name + "-"
		pod.Name = pod.GenerateName + suffix(i)
	}
}

// admit adds the fields that the kube-apiserver's admission adds to each pod.
func (c chance) admit(spec *corev1.PodSpec) {
	access := "kube-api-access-" + c.text(safe, 5)
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: access, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		DefaultMode: new(int32(420)),
		Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{ExpirationSeconds: new(int64(3607)), Path: "token"}},
			{ConfigMap: &corev1.ConfigMapProjection{
				LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"},
				Items:                []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}},
			}},
			{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{
				Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"},
			}}}},
		},
	}}})
	token := corev1.VolumeMount{Name: access, ReadOnly: true, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"}
	mount(spec.InitContainers, token)
	mount(spec.Containers, token)
	for _, taint := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		spec.Tolerations = append(spec.Tolerations, corev1.Toleration{
			Key: taint, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(300)),
		})
	}
	spec.Priority, spec.PreemptionPolicy = new(int32(0)), new(corev1.PreemptLowerPriority)
	if spec.PriorityClassName != "" {
		spec.Priority = new(int32(100_000))
	}
}

// annotate adds annotations like those of some network plugins.
func (c chance) annotate(pod *corev1.Pod) {
	if len(pod.Annotations) < 4 {
		return
	}
	pod.Annotations["cni.example.com/containerID"] = c.hex(64)
	pod.Annotations["k8s.cni.example.com/network-status"] = fmt.Sprintf(
		`[{"name":"cluster-net","interface":"eth0","ips":["10.244.%d.%d"],"mac":"0a:58:%s:%s:%s:%s","default":true,"dns":{}}]`,
		c.IntN(256), c.IntN(256), c.hex(2), c.hex(2), c.hex(2), c.hex(2))
}
