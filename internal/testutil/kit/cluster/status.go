package cluster

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// addStatus adds the status that a kubelet would write.
func (c chance) addStatus(pod *corev1.Pod) {
	start := after(pod.CreationTimestamp, c.IntN(3))
	ip := fmt.Sprintf("10.%d.%d.%d", 64+c.IntN(64), c.IntN(256), c.between(1, 254))
	host := hostIP(pod.Spec.NodeName)
	pod.Status = corev1.PodStatus{
		ObservedGeneration: 1, Phase: corev1.PodRunning, QOSClass: quality(&pod.Spec), StartTime: &start,
		HostIP: host, HostIPs: []corev1.HostIP{{IP: host}}, PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}},
	}
	done := pod.Spec.RestartPolicy == corev1.RestartPolicyNever
	if done {
		pod.Status.Phase = corev1.PodSucceeded
	}
	up := after(start, c.between(2, 90))
	for i := range pod.Spec.InitContainers {
		pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses, c.containerStatus(&pod.Spec.InitContainers[i], start, true))
	}
	for i := range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, c.containerStatus(&pod.Spec.Containers[i], up, done))
	}
	c.addConditions(pod, start, up, done)
}

func (c chance) addConditions(pod *corev1.Pod, start, up metav1.Time, done bool) {
	add := func(of corev1.PodConditionType, ok bool, since metav1.Time) {
		condition := corev1.PodCondition{Type: of, Status: corev1.ConditionTrue, LastTransitionTime: since}
		if done {
			condition.Reason = "PodCompleted"
		}
		if !ok {
			condition.Status = corev1.ConditionFalse
		}
		pod.Status.Conditions = append(pod.Status.Conditions, condition)
	}
	ready := after(up, c.between(1, 30))
	add(corev1.PodReadyToStartContainers, !done, after(start, c.between(1, 5)))
	add(corev1.PodInitialized, true, after(start, c.IntN(10)))
	add(corev1.PodReady, !done, ready)
	add(corev1.ContainersReady, !done, ready)
	add(corev1.PodScheduled, true, start)
}

func (c chance) containerStatus(of *corev1.Container, up metav1.Time, done bool) corev1.ContainerStatus {
	s := corev1.ContainerStatus{
		Name: of.Name, Image: of.Image, ImageID: imageID(of.Image), ContainerID: "containerd://" + c.hex(64),
		Ready: true, Started: new(!done), AllocatedResources: of.Resources.Requests.DeepCopy(), Resources: of.Resources.DeepCopy(),
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: up}},
	}
	if done {
		s.State = c.terminated(s.ContainerID, "Completed", 0, up)
	}
	if !done && c.oneIn(8) {
		s.RestartCount = int32(c.few(1, 40))
		s.LastTerminationState = c.terminated("containerd://"+c.hex(64), pick(c, []string{"Error", "OOMKilled"}), 137, up)
	}
	for _, m := range of.VolumeMounts {
		mounted := corev1.VolumeMountStatus{Name: m.Name, MountPath: m.MountPath, ReadOnly: m.ReadOnly}
		if m.ReadOnly {
			mounted.RecursiveReadOnly = new(corev1.RecursiveReadOnlyDisabled)
		}
		s.VolumeMounts = append(s.VolumeMounts, mounted)
	}
	return s
}

func (c chance) terminated(id, reason string, code int32, started metav1.Time) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: reason, ContainerID: id, StartedAt: started, FinishedAt: after(started, c.between(5, 5000)),
	}}
}

// imageID returns the ID of an image. It is the same on all nodes.
func imageID(image string) string {
	return "registry.example.com/resolved@sha256:" + newChance(0, image, 0).hex(64)
}

// hostIP returns the address of a node.
func hostIP(node string) string {
	c := newChance(0, node, 0)
	return fmt.Sprintf("10.0.%d.%d", c.IntN(256), c.between(1, 254))
}

func quality(spec *corev1.PodSpec) corev1.PodQOSClass {
	for _, container := range spec.Containers {
		if len(container.Resources.Limits) < 2 {
			return corev1.PodQOSBurstable
		}
	}
	return corev1.PodQOSGuaranteed
}
