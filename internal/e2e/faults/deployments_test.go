package faults

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
)

// deployments are the objects for which examples/controller writes summaries.
func (s *scenario) deployments() objects {
	in := func(i int) (namespace, name string) { return harness.Namespace(i % teams), fmt.Sprint("web-", i) }
	return objects{
		create: func(ctx context.Context, i int) error {
			namespace, name := in(i)
			_, err := s.admin.AppsV1().Deployments(namespace).Create(ctx, deployment(name), metav1.CreateOptions{})
			return err
		},
		scale: func(ctx context.Context, i, replicas int) error {
			namespace, name := in(i)
			patch := fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas)
			_, err := s.admin.AppsV1().Deployments(namespace).Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
			return err
		},
		remove: func(ctx context.Context, i int) error {
			namespace, name := in(i)
			return s.admin.AppsV1().Deployments(namespace).Delete(ctx, name, metav1.DeleteOptions{})
		},
	}
}

func deployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name, "example.com/summary": "wanted"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "registry.example.com/web:1"}}},
			},
		},
	}
}

// summariesDiffer returns an error if a summary is missing, wrong or left over.
func (s *scenario) summariesDiffer() error {
	deployments, err := s.admin.AppsV1().Deployments("").List(s.ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	summaries, err := s.admin.CoreV1().ConfigMaps("").List(s.ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/managed-by"})
	if err != nil {
		return err
	}
	left := byKey(pointers(summaries.Items))
	for i := range deployments.Items {
		d := &deployments.Items[i]
		summary, ok := left[keyOf(d)]
		if !ok || summary.Data["replicas"] != fmt.Sprint(*d.Spec.Replicas) || !metav1.IsControlledBy(summary, d) {
			return fmt.Errorf("%v has %d replicas, but the summary %v", keyOf(d), *d.Spec.Replicas, summary)
		}
		delete(left, keyOf(d))
	}
	if len(left) > 0 {
		return fmt.Errorf("%d summaries are left over", len(left))
	}
	return nil
}
