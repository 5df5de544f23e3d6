package faults

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// writesOfPods returns the sorts of writes only for pods.
func writesOfPods() []sort[*corev1.Pod] {
	evict := func(ctx context.Context, a attempt[*corev1.Pod], o metav1.DeleteOptions) error {
		meta := metav1.ObjectMeta{Name: a.name, Namespace: a.kind.namespace}
		return a.own.(podParts).EvictV1(ctx, &policyv1.Eviction{ObjectMeta: meta, DeleteOptions: &o})
	}
	return []sort[*corev1.Pod]{
		{name: "strategic patch", of: living, write: func(ctx context.Context, a attempt[*corev1.Pod]) error {
			return a.patch(ctx, types.StrategicMergePatchType, a.toRound(), metav1.PatchOptions{})
		}},
		{name: "bind", of: living, write: func(ctx context.Context, a attempt[*corev1.Pod]) error {
			meta := metav1.ObjectMeta{Name: a.name, Namespace: a.kind.namespace}
			return a.own.(podParts).Bind(ctx, &corev1.Binding{ObjectMeta: meta, Target: corev1.ObjectReference{Kind: "Node", Name: "node"}}, metav1.CreateOptions{})
		}},
		{name: "delete gracefully", of: living, write: func(ctx context.Context, a attempt[*corev1.Pod]) error {
			return a.own.Delete(ctx, a.name, metav1.DeleteOptions{})
		}},
		{name: "delete gracefully, dry", of: living, dry: true, write: func(ctx context.Context, a attempt[*corev1.Pod]) error {
			return a.own.Delete(ctx, a.name, metav1.DeleteOptions{DryRun: dryRun})
		}},
		{name: "evict", of: living, write: func(ctx context.Context, a attempt[*corev1.Pod]) error { return evict(ctx, a, now) }},
		{name: "evict, dry", of: living, dry: true, write: func(ctx context.Context, a attempt[*corev1.Pod]) error {
			return evict(ctx, a, metav1.DeleteOptions{DryRun: dryRun})
		}},
	}
}

// writesOfPodSpecs returns the sorts of writes for pods that change a part of the spec by a subresource.
func writesOfPodSpecs() []sort[*corev1.Pod] {
	const part = "ephemeralcontainers"
	cpu := func(a attempt[*corev1.Pod]) string { return fmt.Sprintf("%dm", 100+a.random.IntN(3)) }
	resized := func(a attempt[*corev1.Pod]) string {
		return fmt.Sprintf(`{"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":%q}}}]}}`, cpu(a))
	}
	container := func(a attempt[*corev1.Pod]) string { return fmt.Sprint("debug-", a.random.IntN(3)) }
	with := func(name string) string {
		return fmt.Sprintf(`{"spec":{"ephemeralContainers":[{"name":%q,"image":"image"}]}}`, name)
	}
	return []sort[*corev1.Pod]{
		{name: "patch the resources", of: living, write: func(ctx context.Context, a attempt[*corev1.Pod]) error {
			return a.patch(ctx, types.StrategicMergePatchType, resized(a), metav1.PatchOptions{}, "resize")
		}},
		{name: "patch the resources, dry", of: living, dry: true, write: func(ctx context.Context, a attempt[*corev1.Pod]) error {
			return a.patch(ctx, types.StrategicMergePatchType, resized(a), metav1.PatchOptions{DryRun: dryRun}, "resize")
		}},
		{name: "update the resources", of: living, write: func(ctx context.Context, a attempt[*corev1.Pod]) error {
			next := a.stored.DeepCopy()
			next.Spec.Containers[0].Resources.Requests = amountOf(corev1.ResourceCPU, cpu(a))
			_, err := a.own.(podParts).UpdateResize(ctx, a.name, next, metav1.UpdateOptions{})
			return err
		}},
		{name: "patch the ephemeral containers", of: living, write: func(ctx context.Context, a attempt[*corev1.Pod]) error {
			return a.patch(ctx, types.StrategicMergePatchType, with(container(a)), metav1.PatchOptions{}, part)
		}},
		{name: "patch the ephemeral containers, dry", of: living, dry: true, write: func(ctx context.Context, a attempt[*corev1.Pod]) error {
			return a.patch(ctx, types.StrategicMergePatchType, with("dry"), metav1.PatchOptions{DryRun: dryRun}, part)
		}},
		{name: "update the ephemeral containers", of: living, write: func(ctx context.Context, a attempt[*corev1.Pod]) error {
			next, name := a.stored.DeepCopy(), container(a)
			if !slices.ContainsFunc(next.Spec.EphemeralContainers, func(c corev1.EphemeralContainer) bool { return c.Name == name }) {
				next.Spec.EphemeralContainers = append(next.Spec.EphemeralContainers,
					corev1.EphemeralContainer{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: name, Image: "image"}})
			}
			_, err := a.own.(podParts).UpdateEphemeralContainers(ctx, a.name, next, metav1.UpdateOptions{})
			return err
		}},
	}
}
