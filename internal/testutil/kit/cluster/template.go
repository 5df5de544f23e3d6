package cluster

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podSpec returns the pod template of a workload.
func (c chance) podSpec(o *owner, division string) corev1.PodSpec {
	spec := corev1.PodSpec{
		Containers:                    []corev1.Container{c.container(o.app, division)},
		RestartPolicy:                 corev1.RestartPolicyAlways,
		TerminationGracePeriodSeconds: new(int64(pick(c, []int{10, 30, 30, 30, 60, 300}))),
		DNSPolicy:                     corev1.DNSClusterFirst,
		ServiceAccountName:            o.app,
		SchedulerName:                 corev1.DefaultSchedulerName,
		SecurityContext:               c.podSecurity(),
		PriorityClassName:             pick(c, priorities),
		EnableServiceLinks:            new(!c.oneIn(3)),
	}
	spec.DeprecatedServiceAccount = spec.ServiceAccountName
	if o.kind == job {
		spec.RestartPolicy = corev1.RestartPolicyNever
	}
	for _, name := range some(c, pick(c, []int{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 3}), sidecars) {
		spec.Containers = append(spec.Containers, c.sidecar(name))
	}
	if c.oneIn(8) {
		spec.InitContainers = []corev1.Container{withDefaults(corev1.Container{
			Name: "migrate", Image: spec.Containers[0].Image, Args: []string{"migrate", "up"}, Resources: c.resources(),
		})}
	}
	if c.oneIn(3) {
		spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "registry-" + division}}
	}
	c.addVolumes(&spec, o)
	c.addPlacement(&spec, o)
	return spec
}

func (c chance) podSecurity() *corev1.PodSecurityContext {
	if c.oneIn(2) {
		return &corev1.PodSecurityContext{}
	}
	id := int64(c.between(1000, 1010))
	return &corev1.PodSecurityContext{
		RunAsUser: new(id), RunAsGroup: new(id), FSGroup: new(id), RunAsNonRoot: new(true),
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
}

// addVolumes adds the volumes of the template, and mounts them.
func (c chance) addVolumes(spec *corev1.PodSpec, o *owner) {
	add := func(name, path string, source corev1.VolumeSource) {
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: name, VolumeSource: source})
		mount(spec.Containers[:1], corev1.VolumeMount{Name: name, MountPath: path, ReadOnly: source.EmptyDir == nil})
	}
	add("config", "/etc/config", corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: o.app + "-config"}, DefaultMode: new(int32(420)),
	}})
	if c.oneIn(4) {
		add("tls", "/etc/tls", corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: o.app + "-tls", DefaultMode: new(int32(256))}})
	}
	if c.oneIn(4) {
		add("tmp", "/tmp", corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})
	}
	if o.kind == daemonSet {
		add("host-logs", "/var/log/host", corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/var/log", Type: new(corev1.HostPathUnset)}})
	}
}

// addPlacement adds the node selector, tolerations and affinity of some workloads.
func (c chance) addPlacement(spec *corev1.PodSpec, o *owner) {
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": o.app}}
	if c.oneIn(3) {
		spec.NodeSelector = map[string]string{"kubernetes.io/arch": "amd64", "node.example.com/pool": pick(c, tiers)}
		spec.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpEqual, Value: pick(c, tiers), Effect: corev1.TaintEffectNoSchedule}}
	}
	if c.oneIn(3) {
		spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{
				Weight: 100, PodAffinityTerm: corev1.PodAffinityTerm{LabelSelector: selector, TopologyKey: corev1.LabelHostname},
			}},
		}}
	}
	if c.oneIn(4) {
		spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: selector.DeepCopy(),
		}}
	}
	if c.oneIn(10) {
		spec.HostAliases = []corev1.HostAlias{{IP: fmt.Sprintf("10.1.%d.%d", c.IntN(256), c.IntN(256)), Hostnames: []string{o.app + ".internal.example.com"}}}
	}
}
