package kit

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// RunningPod returns the i-th pod of a workload as an API server returns it, with the fields of
// templates, admission, the scheduler and the kubelet. It is 6 kB long. Pods of one workload have equal
// templates. Pods of different workloads have no long string in common, and differ in all fields of
// their templates.
func RunningPod(w string, i int) *corev1.Pod {
	controller := true
	access := fmt.Sprintf("kube-api-access-%05x", i)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("web-%s-7d4b9c6f5d-%05x", w, i), GenerateName: "web-" + w + "-7d4b9c6f5d-", Namespace: "team-" + w,
			UID: types.UID(fmt.Sprintf("0b5c9f3e-6a57-4c43-9d2c-%012x", i)), ResourceVersion: fmt.Sprint(100000 + i),
			Generation: 1, CreationTimestamp: at(i),
			Labels: map[string]string{
				"app.kubernetes.io/name": "web-" + w, "app.kubernetes.io/instance": "web-" + w + "-prod", "app.kubernetes.io/version": "1.2." + w,
				"app.kubernetes.io/managed-by": "Helm-" + w, "pod-template-hash": "7d4b9c6f5d" + w, "tier": "frontend-" + w,
			},
			Annotations: map[string]string{
				"prometheus.io/scrape": "true-" + w, "prometheus.io/port": "9102-" + w, "checksum/config": "4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865" + w,
				"cni.example.com/pod-ip": fmt.Sprintf("10.%d.%d.%d/32", i>>16&255, i>>8&255, i&255),
			},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-" + w + "-7d4b9c6f5d", UID: types.UID("7a0c9f3e-6a57-4c43-9d2c-" + w),
				Controller: &controller, BlockOwnerDeletion: &controller,
			}},
			ManagedFields: runningManagers(w, i),
		},
		Spec:   runningSpec(w, access, i),
		Status: runningStatus(w, i),
	}
}

func at(i int) metav1.Time { return metav1.NewTime(time.Unix(1_700_000_000+int64(i), 0)) }

func runningManagers(w string, i int) []metav1.ManagedFieldsEntry {
	created, updated := at(i), at(i+9)
	return []metav1.ManagedFieldsEntry{
		{
			Manager: "kube-controller-manager", Operation: "Update", APIVersion: "v1", Time: &created, FieldsType: "FieldsV1",
			FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{".":{},"f:checksum/config":{},"f:prometheus.io/port":{},"f:prometheus.io/scrape":{}},"f:generateName":{},"f:labels":{".":{},"f:app.kubernetes.io/instance":{},"f:app.kubernetes.io/name":{},"f:pod-template-hash":{},"f:tier":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"7a0c9f3e-` + w + `\"}":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:args":{},"f:env":{".":{},"k:{\"name\":\"POD_NAME\"}":{".":{},"f:name":{},"f:valueFrom":{}}},"f:image":{},"f:imagePullPolicy":{},"f:livenessProbe":{},"f:name":{},"f:ports":{},"f:readinessProbe":{},"f:resources":{},"f:securityContext":{}}},"f:dnsPolicy":{},"f:enableServiceLinks":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},"f:terminationGracePeriodSeconds":{},"f:volumes":{}}}`),
		},
		{
			Manager: "kubelet", Operation: "Update", APIVersion: "v1", Time: &updated, FieldsType: "FieldsV1", Subresource: "status",
			FieldsV1: metav1.NewFieldsV1(`{"f:status":{"f:conditions":{"k:{\"type\":\"ContainersReady\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Initialized\"}":{".":{},"f:lastProbeTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Ready\"}":{".":{},"f:lastProbeTime":{},"f:status":{},"f:type":{}}},"f:containerStatuses":{},"f:hostIP":{},"f:phase":{},"f:podIP":{},"f:podIPs":{".":{},"k:{\"ip\":\"` + w + `\"}":{}},"f:startTime":{}}}`),
		},
	}
}

func runningSpec(w, access string, i int) corev1.PodSpec {
	var (
		grace, tolerated int64 = 30, 300
		priority         int32
		yes                    = true
		preempt                = corev1.PreemptLowerPriority
		mode             int32 = 420
		expires          int64 = 3607
	)
	mounts := func(name string) []corev1.VolumeMount {
		return []corev1.VolumeMount{
			{Name: "config", MountPath: "/etc/" + name + w, ReadOnly: true},
			{Name: "cache", MountPath: "/var/cache/" + name + w},
			{Name: access, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount", ReadOnly: true},
		}
	}
	return corev1.PodSpec{
		Volumes: []corev1.Volume{
			{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: "web-config-" + w}, DefaultMode: &mode}}},
			{Name: "cache", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			{Name: access, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{DefaultMode: &mode, Sources: []corev1.VolumeProjection{
				{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{ExpirationSeconds: &expires, Path: "token" + w}},
				{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt" + w},
					Items: []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt" + w}}}},
				{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{Path: "namespace" + w,
					FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"}}}}},
			}}}},
		},
		Containers: []corev1.Container{
			runningContainer("web", w, mounts("web")),
			runningContainer("proxy", w, mounts("proxy")),
		},
		RestartPolicy: corev1.RestartPolicyAlways, TerminationGracePeriodSeconds: &grace, DNSPolicy: corev1.DNSClusterFirst,
		ServiceAccountName: "web-" + w, DeprecatedServiceAccount: "web-" + w, NodeName: fmt.Sprintf("node-%d.%s.example.com", i%500, w),
		SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: &yes, FSGroup: &grace, SupplementalGroups: []int64{int64(len(w)), 2000}},
		Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{
			Weight: 100, PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: "kubernetes.io/hostname",
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app.kubernetes.io/name": "web-" + w}}}}}}},
		SchedulerName: "default-scheduler",
		Tolerations: []corev1.Toleration{
			{Key: "node.kubernetes.io/not-ready", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &tolerated},
			{Key: "node.kubernetes.io/unreachable", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &tolerated},
			{Key: "team", Value: w, Operator: corev1.TolerationOpEqual},
		},
		Priority: &priority, EnableServiceLinks: &yes, PreemptionPolicy: &preempt,
	}
}

func runningContainer(name, w string, mounts []corev1.VolumeMount) corev1.Container {
	no := false
	env := []corev1.EnvVar{
		{Name: "POD_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.name"}}},
		{Name: "PASSWORD", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{Key: "password", LocalObjectReference: corev1.LocalObjectReference{Name: "db-" + w}}}},
	}
	for i := range 8 {
		env = append(env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%d", i), Value: fmt.Sprintf("some-value-%d-of-%s", i, w)})
	}
	probe := &corev1.Probe{
		ProbeHandler:        corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz/" + w, Port: intstr.FromString("http"), Scheme: corev1.URISchemeHTTP}},
		InitialDelaySeconds: 5, TimeoutSeconds: 1, PeriodSeconds: 10, SuccessThreshold: 1, FailureThreshold: 3,
	}
	list := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m"), corev1.ResourceMemory: resource.MustParse("512Mi")}
	return corev1.Container{
		Name: name, Image: "registry.example.com/team/" + name + ":v1.2.3-" + w, Args: []string{"--listen=:8080", "--config=/etc/" + w},
		Ports:     []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP}, {Name: "metrics-" + w, ContainerPort: 9102, Protocol: corev1.ProtocolTCP}},
		Env:       env,
		Resources: corev1.ResourceRequirements{Limits: list, Requests: list}, VolumeMounts: mounts,
		LivenessProbe: probe, ReadinessProbe: probe,
		TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: corev1.TerminationMessageReadFile, ImagePullPolicy: corev1.PullIfNotPresent,
		SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: &no, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL", corev1.Capability(w)}}},
	}
}

func runningStatus(w string, i int) corev1.PodStatus {
	start, ip := at(i+1), fmt.Sprintf("10.%d.%d.%d", i>>16&255, i>>8&255, i&255)
	s := corev1.PodStatus{
		Phase: corev1.PodRunning, HostIP: fmt.Sprintf("192.168.1.%d", i%500), PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}},
		StartTime: &start, QOSClass: corev1.PodQOSGuaranteed,
		HostIPs: []corev1.HostIP{{IP: fmt.Sprintf("192.168.1.%d", i%500)}},
	}
	for n, c := range []corev1.PodConditionType{"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"} {
		s.Conditions = append(s.Conditions, corev1.PodCondition{Type: c, Status: corev1.ConditionTrue, LastTransitionTime: at(i + n)})
	}
	for n, name := range []string{"web", "proxy"} {
		started := true
		s.ContainerStatuses = append(s.ContainerStatuses, corev1.ContainerStatus{
			Name: name, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at(i + n)}},
			Ready: true, Started: &started, Image: "registry.example.com/team/" + name + ":v1.2.3-" + w,
			ImageID:     "registry.example.com/team/" + name + "@sha256:4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd8" + w,
			ContainerID: fmt.Sprintf("containerd://%064x", i*2+n),
		})
	}
	return s
}
