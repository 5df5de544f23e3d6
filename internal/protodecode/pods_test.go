package protodecode

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// workloads is the number of workloads in a realistic cluster.
const workloads = 400

// siblingPod returns the i-th pod of a cluster. Most of it is equal in all pods of its workload.
func siblingPod(i int) *corev1.Pod {
	return kit.RunningPod(fmt.Sprintf("t%d", i/(cached/workloads)), i)
}

// lonePod returns the i-th pod of those without a common template.
func lonePod(i int) *corev1.Pod { return kit.RunningPod(fmt.Sprintf("lone-%d", i), i) }

// withoutToken removes the volume with the service account token from a pod. The volume's name is unique
// to the pod, so that otherwise no list of mounts would be shared.
func withoutToken(pod *corev1.Pod) *corev1.Pod {
	pod.Spec.Volumes = pod.Spec.Volumes[:2]
	for i := range pod.Spec.Containers {
		pod.Spec.Containers[i].VolumeMounts = pod.Spec.Containers[i].VolumeMounts[:2]
	}
	return pod
}
