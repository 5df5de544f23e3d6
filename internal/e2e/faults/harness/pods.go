package harness

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
)

// Creators is how many objects are created at a time.
const Creators = 32

// CreatePods creates n pods, in namespaces of their own, which it creates too.
func CreatePods(ctx context.Context, client kubernetes.Interface, n, namespaces int) error {
	if err := CreateNamespaces(ctx, client, namespaces); err != nil {
		return err
	}
	return Each(ctx, Creators, n, func(ctx context.Context, i int) error {
		pod := Pod(Namespace(i%namespaces), PodName(i), i)
		_, err := client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
		return err
	})
}

// CreateNamespaces creates the first n namespaces, unless they are there.
func CreateNamespaces(ctx context.Context, client kubernetes.Interface, n int) error {
	return Each(ctx, Creators, n, func(ctx context.Context, i int) error {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Namespace(i)}}
		_, err := client.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
}

// Each calls do for 0 to n-1, some at a time, and returns the first error.
func Each(ctx context.Context, workers, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, n) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := do(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// Namespace is the name of the i-th namespace, PodName that of the i-th pod.
func Namespace(i int) string { return fmt.Sprintf("team-%03d", i) }

// PodName is the name of the i-th pod.
func PodName(i int) string { return fmt.Sprintf("%s-6d4b75cb6d-%06d", app(i), i) }

// Apps is how many values the label app has.
const Apps = 20

func app(i int) string { return fmt.Sprintf("app-%02d", i%Apps) }

// Pod is a pod as a deployment makes it: with what the server adds, the managed
// fields above all, it comes to some 6 kB.
func Pod(namespace, name string, i int) *corev1.Pod {
	yes, seconds := true, int64(300)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name,
			Labels: map[string]string{
				"app": app(i), "tier": []string{"front", "back", "batch"}[i%3], "pod-template-hash": "6d4b75cb6d",
				"app.kubernetes.io/name": app(i), "app.kubernetes.io/managed-by": "Helm", "serial": fmt.Sprint(i),
			},
			Annotations: map[string]string{
				"prometheus.io/scrape": "true", "prometheus.io/port": "9102", "prometheus.io/path": "/metrics",
				"checksum/config":                       "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
				"sidecar.example.com/status":            `{"initContainers":["init"],"containers":["proxy"],"volumes":["proxy-envoy","proxy-data"],"revision":"default"}`,
				"kubectl.kubernetes.io/default-logs-of": app(i),
			},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "ReplicaSet", Name: app(i) + "-6d4b75cb6d", Controller: &yes, BlockOwnerDeletion: &yes,
				UID: "c9f0f895-fb98-4b9a-9b1e-000000000001",
			}},
		},
		Spec: corev1.PodSpec{
			NodeName:                      fmt.Sprintf("node-%03d", i%50),
			ServiceAccountName:            app(i),
			TerminationGracePeriodSeconds: &seconds,
			Containers:                    []corev1.Container{container(app(i), 8080), container("proxy", 15090)},
			Volumes: []corev1.Volume{
				{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: app(i)}}}},
				{Name: "cache", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			},
			Tolerations: []corev1.Toleration{
				{Key: "node.kubernetes.io/not-ready", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds},
				{Key: "node.kubernetes.io/unreachable", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds},
			},
		},
	}
}

func container(name string, port int32) corev1.Container {
	var env []corev1.EnvVar
	for _, key := range []string{"LOG_LEVEL", "REGION", "CLUSTER", "OTEL_EXPORTER_OTLP_ENDPOINT", "GOMEMLIMIT", "FEATURES"} {
		env = append(env, corev1.EnvVar{Name: key, Value: "the value of " + key})
	}
	amount := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("128Mi")}
	return corev1.Container{
		Name:  name,
		Image: "registry.example.com/platform/" + name + "@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		Args:  []string{"--config=/etc/config/config.yaml", "--listen=:8080", "--graceful-shutdown=30s"},
		Env:   env,
		Ports: []corev1.ContainerPort{{Name: fmt.Sprint("port-", port), ContainerPort: port, Protocol: corev1.ProtocolTCP}},
		ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
			Path: "/healthz", Port: intstr.FromInt32(port), Scheme: corev1.URISchemeHTTP,
		}}},
		Resources:    corev1.ResourceRequirements{Requests: amount, Limits: amount},
		VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/etc/config", ReadOnly: true}, {Name: "cache", MountPath: "/var/cache"}},
	}
}
