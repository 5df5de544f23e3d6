package cluster

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// container is the main container of a workload.
func (c chance) container(app, division string) corev1.Container {
	port := int32(pick(c, []int{3000, 5000, 8000, 8080, 8443, 9000, 50051}))
	container := corev1.Container{
		Name:            app,
		Image:           c.image(division, app),
		Args:            c.args(port),
		Ports:           []corev1.ContainerPort{{Name: "http", ContainerPort: port, Protocol: corev1.ProtocolTCP}},
		Env:             c.environment(app, c.few(5, 30)),
		Resources:       c.resources(),
		SecurityContext: c.containerSecurity(),
	}
	if !c.oneIn(3) {
		container.ReadinessProbe = c.probe(port, "/readyz")
	}
	if c.oneIn(3) {
		container.LivenessProbe = c.probe(port, "/livez")
	}
	if c.oneIn(4) {
		container.Ports = append(container.Ports, corev1.ContainerPort{Name: "metrics", ContainerPort: 9090, Protocol: corev1.ProtocolTCP})
	}
	if c.oneIn(8) {
		container.StartupProbe = c.probe(port, "/startupz")
	}
	if c.oneIn(3) {
		container.EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: app + "-env"}}}}
	}
	if c.oneIn(4) {
		container.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"/bin/sh", "-c", "sleep " + fmt.Sprint(c.between(3, 20))}}}}
	}
	return withDefaults(container)
}

// sidecar is an additional container, which many workloads have.
func (c chance) sidecar(name string) corev1.Container {
	port := int32(c.between(15_000, 15_020))
	return withDefaults(corev1.Container{
		Name:      name,
		Image:     fmt.Sprintf("%s/sidecars/%s:v1.%d.%d", pick(c, registries), name, c.IntN(30), c.IntN(9)),
		Args:      []string{"--config=/etc/" + name + "/config.yaml", fmt.Sprintf("--listen=:%d", port)},
		Ports:     []corev1.ContainerPort{{Name: "admin", ContainerPort: port, Protocol: corev1.ProtocolTCP}},
		Env:       []corev1.EnvVar{field("POD_NAME", "metadata.name"), field("POD_IP", "status.podIP")},
		Resources: c.resources(),
	})
}

func (c chance) image(division, name string) string {
	image := pick(c, registries) + "/" + division + "/" + name
	if c.oneIn(3) {
		return image + "@sha256:" + c.hex(64)
	}
	return fmt.Sprintf("%s:%d.%d.%d-%s", image, c.IntN(9), c.IntN(60), c.IntN(30), c.hex(7))
}

func (c chance) args(port int32) []string {
	args := []string{fmt.Sprintf("--listen=0.0.0.0:%d", port), "--config=/etc/config/application.yaml"}
	for range c.IntN(4) {
		args = append(args, pick(c, []string{"--graceful-shutdown=30s", "--enable-tracing", "--log-format=json", "--leader-elect", "--max-connections=2048", "-v=2"}))
	}
	return args
}

// environment returns n variables. Some come from secrets and config maps.
func (c chance) environment(app string, n int) []corev1.EnvVar {
	var env []corev1.EnvVar
	for _, name := range some(c, n*7/10, settings) {
		env = append(env, corev1.EnvVar{Name: name, Value: c.value(name)})
	}
	for _, name := range some(c, n/5, secretNames) {
		env = append(env, corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: app + "-credentials"}, Key: name,
		}}})
	}
	for _, name := range some(c, n/10, configNames) {
		env = append(env, corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: "shared-endpoints"}, Key: name,
		}}})
	}
	return append(env, field("POD_IP", "status.podIP"))
}

// field returns a variable that the kubelet sets to a field of the pod.
func field(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: path}}}
}

func (c chance) resources() corev1.ResourceRequirements {
	cpu, memory := c.IntN(len(amounts)), c.IntN(len(memories))
	r := corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(amounts[cpu]), corev1.ResourceMemory: resource.MustParse(memories[memory]),
	}}
	if !c.oneIn(5) {
		r.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memories[min(memory+c.IntN(3), len(memories)-1)])}
	}
	if c.oneIn(3) {
		r.Limits = r.Requests.DeepCopy()
	}
	return r
}

func (c chance) probe(port int32, path string) *corev1.Probe {
	p := &corev1.Probe{
		InitialDelaySeconds: int32(c.few(0, 30)), TimeoutSeconds: int32(c.between(1, 5)), PeriodSeconds: int32(c.between(1, 6) * 5),
		SuccessThreshold: 1, FailureThreshold: int32(c.between(3, 6)),
	}
	switch c.IntN(5) {
	case 0:
		p.TCPSocket = &corev1.TCPSocketAction{Port: intstr.FromString("http")}
	case 1:
		p.Exec = &corev1.ExecAction{Command: []string{"/bin/healthcheck", fmt.Sprintf("--port=%d", port)}}
	default:
		p.HTTPGet = &corev1.HTTPGetAction{Path: path, Port: intstr.FromInt32(port), Scheme: corev1.URISchemeHTTP}
	}
	return p
}

func (c chance) containerSecurity() *corev1.SecurityContext {
	if c.oneIn(2) {
		return nil
	}
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(c.oneIn(2)), RunAsNonRoot: new(true),
		Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

// withDefaults adds the kube-apiserver's defaults.
func withDefaults(container corev1.Container) corev1.Container {
	container.TerminationMessagePath = corev1.TerminationMessagePathDefault
	container.TerminationMessagePolicy = corev1.TerminationMessageReadFile
	container.ImagePullPolicy = corev1.PullIfNotPresent
	return container
}

// mount mounts volumes into the containers.
func mount(containers []corev1.Container, mounts ...corev1.VolumeMount) {
	for i := range containers {
		containers[i].VolumeMounts = append(slices.Clip(containers[i].VolumeMounts), mounts...)
	}
}
