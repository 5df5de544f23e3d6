package jsondecode

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// podNumber returns a pod as a server sends it, one of many of one workload.
func podNumber(t testing.TB, n int) []byte {
	t.Helper()
	data, err := json.Marshal(newPod(n))
	require.NoError(t, err)
	return data
}

func newPod(n int) *corev1.Pod {
	name := fmt.Sprintf("web-7d9c6b8f54-%05x", n)
	began := metav1.NewTime(time.Date(2025, 3, 1, 10, n%60, 7, 0, time.UTC).Local())
	yes := true
	return &corev1.Pod{
		TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, GenerateName: "web-7d9c6b8f54-", Namespace: "shop", UID: types.UID(fmt.Sprintf("0c9f1e0a-4c5b-4b0e-8d36-%012x", n)),
			ResourceVersion: fmt.Sprint(1000 + n), CreationTimestamp: began,
			Labels:          map[string]string{"app": "web", "pod-template-hash": "7d9c6b8f54", "tier": "front"},
			Annotations:     map[string]string{"kubectl.kubernetes.io/restartedAt": "2025-03-01T09:00:00Z", "note": "said \"<hello>\"\nand more"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-7d9c6b8f54", UID: "5d0b7d3e-1111-4b0e-8d36-a1b2c3d4e5f6", Controller: &yes, BlockOwnerDeletion: &yes}},
			ManagedFields: []metav1.ManagedFieldsEntry{
				managed("kube-controller-manager", "", began, `{"f:metadata":{"f:generateName":{},"f:labels":{".":{},"f:app":{},"f:pod-template-hash":{},"f:tier":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"5d0b7d3e-1111-4b0e-8d36-a1b2c3d4e5f6\"}":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:env":{".":{},"k:{\"name\":\"A\"}":{".":{},"f:name":{},"f:value":{}}},"f:image":{},"f:imagePullPolicy":{},"f:livenessProbe":{".":{},"f:failureThreshold":{},"f:httpGet":{".":{},"f:path":{},"f:port":{},"f:scheme":{}}},"f:name":{},"f:ports":{".":{},"k:{\"containerPort\":8080,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:name":{},"f:protocol":{}}},"f:resources":{".":{},"f:limits":{".":{},"f:cpu":{},"f:memory":{}},"f:requests":{".":{},"f:cpu":{},"f:memory":{}}},"f:volumeMounts":{".":{},"k:{\"mountPath\":\"/etc/web\"}":{".":{},"f:mountPath":{},"f:name":{}}}}},"f:dnsPolicy":{},"f:enableServiceLinks":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},"f:terminationGracePeriodSeconds":{},"f:volumes":{".":{},"k:{\"name\":\"config\"}":{".":{},"f:configMap":{".":{},"f:defaultMode":{},"f:name":{}},"f:name":{}}}}}`),
				managed("kubelet", "status", began, `{"f:status":{"f:conditions":{"k:{\"type\":\"ContainersReady\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Ready\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}},"f:containerStatuses":{},"f:hostIP":{},"f:phase":{},"f:podIP":{},"f:podIPs":{".":{},"k:{\"ip\":\"10.1.2.3\"}":{".":{},"f:ip":{}}},"f:startTime":{}}}`),
			},
		},
		Spec:   podSpec(n),
		Status: podStatus(n, began),
	}
}

func managed(by, sub string, at metav1.Time, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: by, Operation: "Update", APIVersion: "v1", Time: &at, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields), Subresource: sub,
	}
}

func podSpec(n int) corev1.PodSpec {
	grace, mode, priority, seconds := int64(30), int32(420), int32(0), int64(300)
	links, token := true, int64(3607)
	var env []corev1.EnvVar
	for _, name := range []string{"A", "DATABASE_URL", "CACHE_SIZE", "LOG_LEVEL"} {
		env = append(env, corev1.EnvVar{Name: name, Value: "value of " + name})
	}
	env = append(env, corev1.EnvVar{Name: "POD", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.name"}}})
	probe := corev1.Probe{
		ProbeHandler:   corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(8080), Scheme: "HTTP"}},
		TimeoutSeconds: 1, PeriodSeconds: 10, SuccessThreshold: 1, FailureThreshold: 3,
	}
	quantities := corev1.ResourceList{"cpu": resource.MustParse("250m"), "memory": resource.MustParse("512Mi")}
	container := corev1.Container{
		Name: "web", Image: "registry.example.com/shop/web:1.2.3", Env: env,
		Ports:     []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: "TCP"}},
		Resources: corev1.ResourceRequirements{Limits: quantities, Requests: quantities},
		VolumeMounts: []corev1.VolumeMount{
			{Name: "config", MountPath: "/etc/web"},
			{Name: "token", MountPath: "/var/run/secrets/kubernetes.io/serviceaccount", ReadOnly: true},
		},
		LivenessProbe: &probe, ReadinessProbe: &probe, TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: "File", ImagePullPolicy: "IfNotPresent",
		SecurityContext: &corev1.SecurityContext{Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}, RunAsNonRoot: &links},
	}
	sidecar := container
	sidecar.Name, sidecar.Image = "proxy", "registry.example.com/mesh/proxy:0.9"
	return corev1.PodSpec{
		Volumes: []corev1.Volume{
			{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "web"}, DefaultMode: &mode}}},
			{Name: "token", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
				DefaultMode: &mode,
				Sources: []corev1.VolumeProjection{
					{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{ExpirationSeconds: &token, Path: "token"}},
					{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"}, Items: []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}}}},
				},
			}}},
		},
		Containers: []corev1.Container{container, sidecar}, RestartPolicy: "Always", TerminationGracePeriodSeconds: &grace, DNSPolicy: "ClusterFirst",
		ServiceAccountName: "web", DeprecatedServiceAccount: "web", NodeName: fmt.Sprintf("node-%03d", n%300),
		NodeSelector:    map[string]string{"disk": "ssd"},
		SecurityContext: &corev1.PodSecurityContext{FSGroup: &seconds}, SchedulerName: "default-scheduler",
		Tolerations: []corev1.Toleration{
			{Key: "node.kubernetes.io/not-ready", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: &seconds},
			{Key: "node.kubernetes.io/unreachable", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: &seconds},
		},
		Priority: &priority, EnableServiceLinks: &links,
	}
}

func podStatus(n int, at metav1.Time) corev1.PodStatus {
	var conditions []corev1.PodCondition
	for _, c := range []corev1.PodConditionType{"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"} {
		conditions = append(conditions, corev1.PodCondition{Type: c, Status: "True", LastTransitionTime: at})
	}
	var statuses []corev1.ContainerStatus
	for _, c := range []string{"proxy", "web"} {
		yes := true
		statuses = append(statuses, corev1.ContainerStatus{
			Name: c, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}}, Ready: true, RestartCount: int32(n % 3),
			Image: "registry.example.com/shop/" + c + ":1.2.3", ImageID: "registry.example.com/shop/" + c + "@sha256:" + strings.Repeat("0123456789abcdef", 4),
			ContainerID: fmt.Sprintf("containerd://%064x", n), Started: &yes,
		})
	}
	return corev1.PodStatus{
		Phase: "Running", Conditions: conditions, HostIP: "192.168.3.4", PodIP: fmt.Sprintf("10.1.%d.%d", n/250%250, n%250),
		PodIPs: []corev1.PodIP{{IP: fmt.Sprintf("10.1.%d.%d", n/250%250, n%250)}}, StartTime: &at, ContainerStatuses: statuses, QOSClass: "Burstable",
	}
}

// resourceNumber returns a custom resource of about 4 kB, of which many are alike.
func resourceNumber(n int) []byte {
	var checks, history strings.Builder
	for i := range 6 {
		fmt.Fprintf(&checks, `,{"interval":%d,"match":{"labels":{"app":"shop","tier":"t%d"},"operator":"In","values":["a","b","c"]},"name":"check-%d","threshold":0.%d5,"url":"https://checks.example.com/v1/check-%d?deep=true"}`, 10*i, i, i, i, i)
		fmt.Fprintf(&history, `,{"deployedAt":"2025-02-0%dT08:00:00Z","id":%d,"revision":"%040x","source":{"path":"apps/shop","repoURL":"https://git.example.com/shop.git","targetRevision":"main"}}`, i+1, i, i*7919)
	}
	return fmt.Appendf(nil, `{"apiVersion":"example.com/v1","kind":"Rollout","metadata":{"annotations":{"example.com/hash":"%x","kubectl.kubernetes.io/last-applied-configuration":"{\"apiVersion\":\"example.com/v1\",\"kind\":\"Rollout\",\"metadata\":{\"annotations\":{},\"name\":\"shop\"},\"spec\":{\"replicas\":3}}\n"},"creationTimestamp":"2025-01-31T10:00:00Z","finalizers":["example.com/cleanup"],"generation":4,"labels":{"app":"shop","region":"eu-%d"},"managedFields":[{"apiVersion":"example.com/v1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:kubectl.kubernetes.io/last-applied-configuration":{}},"f:finalizers":{".":{},"v:\"example.com/cleanup\"":{}}},"f:spec":{".":{},"f:checks":{},"f:destination":{".":{},"f:namespace":{},"f:server":{}},"f:replicas":{},"f:strategy":{".":{},"f:rollingUpdate":{}}}},"manager":"kubectl","operation":"Update","time":"2025-01-31T10:00:00Z"}],"name":"shop-%05d","namespace":"team-%d","resourceVersion":"%d","uid":"aaaaaaaa-bbbb-4ccc-8ddd-%012x"},"spec":{"checks":[{"name":"first"}%s],"destination":{"namespace":"shop","server":"https://kubernetes.default.svc"},"paused":false,"replicas":3,"strategy":{"rollingUpdate":{"maxSurge":"25%%","maxUnavailable":0},"type":"RollingUpdate"},"template":{"spec":{"containers":[{"args":["--port","8080"],"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"image":"registry.example.com/shop:1.2","name":"main","resources":{"limits":{"cpu":"1","memory":"1Gi"}}}],"tolerations":[{"effect":"NoSchedule","key":"spot","operator":"Exists"}]}}},"status":{"availableReplicas":3,"conditions":[{"lastTransitionTime":"2025-02-01T10:%02d:00Z","message":"Rollout is healthy","reason":"Healthy","status":"True","type":"Available"},{"lastTransitionTime":"2025-02-01T09:00:00Z","message":"","reason":"Done","status":"True","type":"Progressing"}],"history":[{"id":-1}%s],"observedGeneration":4,"progress":0.75}}`,
		n, n%4, n, n%10, 5000+n, n, checks.String(), n%60, history.String())
}

// definition is a CustomResourceDefinition, as far as its JSON is of a kind of its own.
const definition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"rollouts.example.com","uid":"1","resourceVersion":"7","creationTimestamp":null},"spec":{"group":"example.com","names":{"kind":"Rollout","plural":"rollouts","shortNames":[]},"scope":"Namespaced","versions":[{"name":"v1","schema":{"openAPIV3Schema":{"properties":{"spec":{"properties":{"data":{"type":"object","x-kubernetes-preserve-unknown-fields":true},"metadata":{"type":"object"},"replicas":{"default":1,"maximum":1e3,"minimum":0,"type":"integer"}},"required":["replicas"],"type":"object"}},"type":"object"}},"served":true,"storage":true,"subresources":{"status":{}}}]},"status":{"acceptedNames":{"kind":"","plural":""},"conditions":null,"storedVersions":["v1"]}}`

const coreEvent = `{"kind":"Event","apiVersion":"v1","metadata":{"name":"web.17a","namespace":"shop","uid":"e1","resourceVersion":"9","creationTimestamp":"2025-03-01T10:00:00Z"},"involvedObject":{"kind":"Pod","namespace":"shop","name":"web","uid":"p1","apiVersion":"v1","fieldPath":"spec.containers{web}"},"reason":"BackOff","message":"Back-off restarting failed container \u003cweb\u003e","source":{"component":"kubelet","host":"node-1"},"firstTimestamp":"2025-03-01T10:00:00Z","lastTimestamp":"2025-03-01T10:05:00Z","count":5,"type":"Warning","eventTime":"2025-03-01T10:00:00.123456Z","reportingComponent":"kubelet","reportingInstance":"node-1","series":null}`
