package sharepass

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/tidemark-k8s/tidemark/internal/share"
)

func ptr[T any](v T) *T { return &v }

// owners is how many owners the pods of the benchmarks have.
const owners = 400

// podOf returns a pod as clusters have them, of some 6 kB: most of it comes of
// its owner's template, and some is its own, such as the names of its volume
// with the token and of its node.
func podOf(i int) *corev1.Pod {
	owner := fmt.Sprintf("service-%03d", i%owners)
	name, at := fmt.Sprintf("%s-%07d", owner, i), metav1.NewTime(time.Unix(1.7e9+int64(i), 0))
	mounts := []corev1.VolumeMount{
		{Name: "config", MountPath: "/etc/" + owner, ReadOnly: true},
		{Name: fmt.Sprintf("kube-api-access-%05d", i), MountPath: "/var/run/secrets/kubernetes.io/serviceaccount", ReadOnly: true},
	}
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "team-" + owner, UID: types.UID(fmt.Sprintf("5e1f6a52-0000-4000-8000-%012d", i)), ResourceVersion: fmt.Sprint(1e8 + i), CreationTimestamp: at,
			Labels:          map[string]string{"app": owner, "pod-template-hash": fmt.Sprintf("%09d", i%owners), "team": "platform"},
			Annotations:     map[string]string{"checksum/config": strings.Repeat("a1b2", 16), "cni/ip": fmt.Sprint(i)},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: owner, UID: types.UID(owner), Controller: ptr(true), BlockOwnerDeletion: ptr(true)}},
		},
		Spec: corev1.PodSpec{
			NodeName: fmt.Sprintf("node-%d", i%1000), ServiceAccountName: owner, DeprecatedServiceAccount: owner, RestartPolicy: "Always", DNSPolicy: "ClusterFirst",
			SchedulerName: "default-scheduler", TerminationGracePeriodSeconds: ptr(int64(30)), EnableServiceLinks: ptr(true), Priority: ptr(int32(0)),
			SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: ptr(true), FSGroup: ptr(int64(1000))},
			Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{
				Weight: 100, PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: "kubernetes.io/hostname", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": owner}}},
			}}}},
			Tolerations: []corev1.Toleration{
				{Key: "node.kubernetes.io/not-ready", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: ptr(int64(300))},
				{Key: "node.kubernetes.io/unreachable", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: ptr(int64(300))},
			},
			Volumes: []corev1.Volume{
				{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: owner}, DefaultMode: ptr(int32(420))}}},
				{Name: mounts[1].Name, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{DefaultMode: ptr(int32(420)), Sources: []corev1.VolumeProjection{
					{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{ExpirationSeconds: ptr(int64(3607)), Path: "token"}},
					{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"}, Items: []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}}}},
					{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"}}}}},
				}}}},
			},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, HostIP: "10.0.0.1", PodIP: fmt.Sprint("10.1.", i), PodIPs: []corev1.PodIP{{IP: fmt.Sprint("10.1.", i)}}, StartTime: &at, QOSClass: "Burstable",
		},
	}
	for _, t := range []corev1.PodConditionType{"Initialized", "Ready", "ContainersReady", "PodScheduled"} {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: t, Status: "True", LastTransitionTime: at})
	}
	for _, c := range []string{"app", "proxy"} {
		p.Spec.Containers = append(p.Spec.Containers, container400(c, owner, mounts))
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: c, Ready: true, Started: ptr(true), Image: "registry.example.com/" + owner + ":1.2.3", ImageID: "registry.example.com/" + owner + "@sha256:" + strings.Repeat("ab", 32),
			ContainerID: fmt.Sprintf("containerd://%064d", i), State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}},
		})
	}
	return p
}

func container400(name, owner string, mounts []corev1.VolumeMount) corev1.Container {
	c := corev1.Container{
		Name: name, Image: "registry.example.com/" + owner + ":1.2.3", ImagePullPolicy: "IfNotPresent", VolumeMounts: mounts,
		Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: "TCP"}, {Name: "metrics", ContainerPort: 9090, Protocol: "TCP"}},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": resource.MustParse("250m"), "memory": resource.MustParse("512Mi")},
			Limits:   corev1.ResourceList{"memory": resource.MustParse("1Gi")},
		},
		LivenessProbe:  &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromString("http"), Scheme: "HTTP"}}, PeriodSeconds: 10, TimeoutSeconds: 1, FailureThreshold: 3, SuccessThreshold: 1},
		ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/ready", Port: intstr.FromString("http"), Scheme: "HTTP"}}, PeriodSeconds: 10, TimeoutSeconds: 1, FailureThreshold: 3, SuccessThreshold: 1},
		SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: ptr(false), ReadOnlyRootFilesystem: ptr(true),
			Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}},
		TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: "File",
	}
	for i := range 12 {
		c.Env = append(c.Env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%s_%d", name, i), Value: fmt.Sprintf("value %d of %s, which is a bit longer", i, owner)})
	}
	c.Env = append(c.Env, corev1.EnvVar{Name: "POD_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.name"}}})
	return c
}

func decodePod(tb testing.TB, encoded []byte) *corev1.Pod {
	p := &corev1.Pod{}
	if err := p.Unmarshal(encoded); err != nil {
		tb.Fatal(err)
	}
	return p
}

// shareStrings does to an object what a decoder does that shares its strings.
func shareStrings(t *share.Table, site share.Site, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(t.String(site, []byte(v.String())))
	case reflect.Pointer:
		if !v.IsNil() {
			shareStrings(t, site, v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			shareStrings(t, site, v.Index(i))
		}
	case reflect.Map:
		for key, elem := range v.Seq2() {
			k, e := reflect.New(key.Type()).Elem(), reflect.New(elem.Type()).Elem()
			k.Set(key)
			e.Set(elem)
			shareStrings(t, site, k)
			shareStrings(t, site, e)
			v.SetMapIndex(key, reflect.Value{})
			v.SetMapIndex(k, e)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				shareStrings(t, site, v.Field(i))
			}
		}
	}
}

func encodedPods(tb testing.TB, n int) [][]byte {
	var all [][]byte
	for i := range n {
		b, err := podOf(i).Marshal()
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, b)
	}
	return all
}

func heap() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// BenchmarkHeapOfPods reports the heap of a pod as it was decoded, with its
// strings shared, and after a pass, the table included.
func BenchmarkHeapOfPods(b *testing.B) {
	const n = 20_000
	encoded, site := encodedPods(b, n), share.NewSite("strings")
	measure := func(decoded func(p *corev1.Pod)) float64 {
		before, pods := heap(), make([]*corev1.Pod, n)
		for i, e := range encoded {
			pods[i] = decodePod(b, e)
			decoded(pods[i])
		}
		after := heap()
		runtime.KeepAlive(pods)
		return (after - before) / n
	}
	for b.Loop() {
		plain := measure(func(*corev1.Pod) {})
		table := share.New(0)
		ofStrings := measure(func(p *corev1.Pod) { shareStrings(table, site, reflect.ValueOf(p)) })
		table = share.New(0)
		pass := New(table)
		shared := measure(func(p *corev1.Pod) {
			shareStrings(table, site, reflect.ValueOf(p))
			pass.Share(p, p)
		})
		b.ReportMetric(float64(len(encoded[0])), "B/encoded")
		b.ReportMetric(plain, "B/decoded")
		b.ReportMetric(ofStrings, "B/strings")
		b.ReportMetric(shared, "B/passed")
		b.ReportMetric(shared/plain, "ratio")
		runtime.KeepAlive(pass)
	}
}

func BenchmarkPod(b *testing.B) {
	encoded := encodedPods(b, 4*owners)
	pass := New(share.New(0))
	pods := make([]*corev1.Pod, len(encoded))
	for i := 0; b.Loop(); i++ {
		if i%len(pods) == 0 {
			b.StopTimer()
			for j, e := range encoded {
				pods[j] = decodePod(b, e)
			}
			b.StartTimer()
		}
		p := pods[i%len(pods)]
		pass.Share(p, p)
	}
	b.ReportAllocs()
}

func BenchmarkDecode(b *testing.B) {
	encoded := encodedPods(b, owners)
	for i := 0; b.Loop(); i++ {
		decodePod(b, encoded[i%owners])
	}
}

func BenchmarkUnstructuredPod(b *testing.B) {
	s := json.NewSerializerWithOptions(json.DefaultMetaFactory, nil, nil, json.SerializerOptions{})
	var encoded [][]byte
	for i := range 2 * owners {
		var text strings.Builder
		p := podOf(i)
		p.APIVersion, p.Kind = "v1", "Pod"
		if err := s.Encode(p, &text); err != nil {
			b.Fatal(err)
		}
		encoded = append(encoded, []byte(text.String()))
	}
	pass := New(share.New(0))
	pods := make([]*unstructured.Unstructured, len(encoded))
	for i := 0; b.Loop(); i++ {
		if i%len(pods) == 0 {
			b.StopTimer()
			for j, e := range encoded {
				pods[j] = &unstructured.Unstructured{}
				if err := pods[j].UnmarshalJSON(e); err != nil {
					b.Fatal(err)
				}
			}
			b.StartTimer()
		}
		p := pods[i%len(pods)]
		pass.Share(p, p)
	}
	b.ReportAllocs()
}
