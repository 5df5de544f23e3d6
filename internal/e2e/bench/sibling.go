package main

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// workloads is how many workloads the pods of a realistic cluster come from.
const workloads = 400

// siblingPod is the pod of a number in such a cluster, as the server has it while
// it runs: some 6 kB, of which the greater part its workload has chosen. What
// admission, the scheduler and the kubelet add is its own.
func siblingPod(i int) *corev1.Pod {
	w := i % workloads
	pod := &corev1.Pod{Spec: podSpec(w), ObjectMeta: metav1.ObjectMeta{
		Namespace: fmt.Sprintf("team-%03d", w%50), GenerateName: appName(w) + "-6d4b75cb6d-", Name: fmt.Sprintf("%s-6d4b75cb6d-%05x", appName(w), i),
		UID: types.UID(fmt.Sprintf("8f14e45f-ceea-467f-9b1e-%012d", i)), ResourceVersion: version(i), Generation: 1, CreationTimestamp: moment(i),
		Labels: map[string]string{
			"app.kubernetes.io/name": appName(w), "app.kubernetes.io/instance": appName(w) + "-prod", "app.kubernetes.io/version": "1.27.3",
			"app.kubernetes.io/managed-by": "Helm", "tier": "backend", "pod-template-hash": "6d4b75cb6d",
		},
		Annotations: map[string]string{
			"prometheus.io/scrape": "true", "prometheus.io/port": "9102", "checksum/config": digest(w), "cni.example.com/pod-ip": podIP(i) + "/32",
		},
		OwnerReferences: podOwners(w),
		ManagedFields: []metav1.ManagedFieldsEntry{
			manager("kube-controller-manager", "", moment(i), "metadata", "spec"), manager("kubelet", "status", moment(i+9), "status"),
		},
	}}
	deploy(&pod.Spec, w)
	admit(&pod.Spec, i)
	pod.Status = runningStatus(pod, i)
	return pod
}

// moment is another second for each number.
func moment(i int) metav1.Time { return metav1.NewTime(created.Add(time.Duration(i) * time.Second)) }

func podIP(i int) string { return fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255) }

// digest is as long as a SHA-256.
func digest(n int) string { return fmt.Sprintf("%064x", (n+1)*7919) }

// manager is who set some fields, twenty of each part.
func manager(name, subresource string, at metav1.Time, parts ...string) metav1.ManagedFieldsEntry {
	var fields []string
	for _, part := range parts {
		text := `"f:` + part + `":{".":{}`
		for i := range 20 {
			text += fmt.Sprintf(`,"f:%sField%d":{".":{},"f:name":{}}`, part, i)
		}
		fields = append(fields, text+"}")
	}
	return metav1.ManagedFieldsEntry{
		Manager: name, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &at, FieldsType: "FieldsV1",
		FieldsV1: metav1.NewFieldsV1("{" + strings.Join(fields, ",") + "}"), Subresource: subresource,
	}
}

// deploy adds what a chart writes into the template of a workload.
func deploy(spec *corev1.PodSpec, w int) {
	main := &spec.Containers[0]
	for i := range 8 {
		main.Env = append(main.Env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%d", i), Value: fmt.Sprintf("value-%d-of-%s", i, appName(w))})
	}
	main.Env = append(main.Env, corev1.EnvVar{Name: "POD_NAME", ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.name"},
	}})
	probe := corev1.Probe{
		ProbeHandler:        corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz/" + appName(w), Port: intstr.FromString("http"), Scheme: corev1.URISchemeHTTP}},
		InitialDelaySeconds: 5, TimeoutSeconds: 1, PeriodSeconds: 10, SuccessThreshold: 1, FailureThreshold: 3,
	}
	main.Args, main.LivenessProbe, main.ReadinessProbe = []string{"--listen=:8080", "--config=/etc/" + appName(w)}, &probe, &probe
	main.VolumeMounts = []corev1.VolumeMount{{Name: "config", MountPath: "/etc/" + appName(w), ReadOnly: true}, {Name: "cache", MountPath: "/var/cache"}}
	main.SecurityContext = &corev1.SecurityContext{AllowPrivilegeEscalation: new(bool), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}
	main.TerminationMessagePath, main.TerminationMessagePolicy = corev1.TerminationMessagePathDefault, corev1.TerminationMessageReadFile
	main.ImagePullPolicy, main.Resources.Limits = corev1.PullIfNotPresent, main.Resources.Requests
	proxy := *main.DeepCopy()
	proxy.Name, proxy.Image = "proxy", "registry.example.com/mesh/proxy:0.9"
	spec.Containers = append(spec.Containers, proxy)
	spec.Volumes = []corev1.Volume{
		{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: appName(w) + "-config"}, DefaultMode: new(int32(420)),
		}}},
		{Name: "cache", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
	}
	spec.RestartPolicy, spec.DNSPolicy, spec.SchedulerName = corev1.RestartPolicyAlways, corev1.DNSClusterFirst, corev1.DefaultSchedulerName
	spec.TerminationGracePeriodSeconds, spec.SecurityContext = new(int64(30)), &corev1.PodSecurityContext{FSGroup: new(int64(2000))}
}

// admit adds what admission and the scheduler write into each pod.
func admit(spec *corev1.PodSpec, i int) {
	access := fmt.Sprintf("kube-api-access-%05x", i)
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: access, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		DefaultMode: new(int32(420)),
		Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{ExpirationSeconds: new(int64(3607)), Path: "token"}},
			{ConfigMap: &corev1.ConfigMapProjection{
				LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"}, Items: []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}},
			}},
			{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{
				{Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"}},
			}}},
		},
	}}})
	for j := range spec.Containers {
		mounts := &spec.Containers[j].VolumeMounts
		*mounts = append(*mounts, corev1.VolumeMount{Name: access, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount", ReadOnly: true})
	}
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		spec.Tolerations = append(spec.Tolerations, corev1.Toleration{
			Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(300)),
		})
	}
	spec.NodeName, spec.Priority, spec.EnableServiceLinks = nodeName(i), new(int32), new(true)
}

// runningStatus is what the kubelet writes.
func runningStatus(pod *corev1.Pod, i int) corev1.PodStatus {
	started, ip := moment(i+1), podIP(i)
	s := corev1.PodStatus{
		Phase: corev1.PodRunning, HostIP: "192.168.1." + fmt.Sprint(i%500%250), PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}},
		StartTime: &started, QOSClass: corev1.PodQOSGuaranteed,
	}
	for j, of := range []corev1.PodConditionType{"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"} {
		s.Conditions = append(s.Conditions, corev1.PodCondition{Type: of, Status: corev1.ConditionTrue, LastTransitionTime: moment(i + j)})
	}
	for j, c := range pod.Spec.Containers {
		s.ContainerStatuses = append(s.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: moment(i + j)}}, Ready: true, Started: new(true),
			Image: c.Image, ImageID: c.Image + "@sha256:" + digest(len(c.Image)), ContainerID: "containerd://" + digest(workloads+2*i+j),
		})
	}
	return s
}
