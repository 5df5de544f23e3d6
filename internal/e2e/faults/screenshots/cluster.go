package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
)

// The number of objects of each kind.
const (
	podCount        = 800
	nodeCount       = 40
	serviceCount    = 60
	secretCount     = 30
	deploymentCount = 50
	configMapCount  = 600
	namespaceCount  = 4
)

// fill creates the objects.
func (s *scene) fill() error {
	create := metav1.CreateOptions{}
	err := harness.CreatePods(s.ctx, s.admin, podCount, namespaceCount)
	each := func(n int, do func(ctx context.Context, i int, ns string) error) {
		err = errors.Join(err, harness.Each(s.ctx, harness.Creators, n, func(ctx context.Context, i int) error {
			return do(ctx, i, harness.Namespace(i%namespaceCount))
		}))
	}
	each(nodeCount, func(ctx context.Context, i int, _ string) error {
		_, err := s.admin.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: named("node", i)}}, create)
		return err
	})
	each(serviceCount, func(ctx context.Context, i int, ns string) error {
		service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: named("service", i), Labels: map[string]string{"transform": "works"}}}
		service.Spec.Ports = []corev1.ServicePort{{Port: 80}}
		if i%29 == 7 {
			service.Labels["transform"] = "fails"
		}
		_, err := s.admin.CoreV1().Services(ns).Create(ctx, service, create)
		return err
	})
	each(secretCount, func(ctx context.Context, i int, ns string) error {
		_, err := s.admin.CoreV1().Secrets(ns).Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: named("secret", i)}}, create)
		return err
	})
	each(configMapCount, func(ctx context.Context, i int, ns string) error {
		_, err := s.admin.CoreV1().ConfigMaps(ns).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: named("config", i)}}, create)
		return err
	})
	each(deploymentCount, func(ctx context.Context, i int, ns string) error {
		_, err := s.admin.AppsV1().Deployments(ns).Create(ctx, deployment(named("deployment", i)), create)
		return err
	})
	return err
}

func deployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	pod := harness.Pod("", "", 0)
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name}}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	d.Spec.Template = corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: pod.Spec.Containers[:1]}}
	d.Spec.Template.Spec.Containers[0].VolumeMounts = nil
	return d
}

// allow grants or revokes the ordinary user's right to read Secrets.
func (s *scene) allow(may bool) error {
	const name = "reads-secrets"
	bindings := s.admin.RbacV1().ClusterRoleBindings()
	if !may {
		return bindings.Delete(s.ctx, name, metav1.DeleteOptions{})
	}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"list", "watch"}},
	}}
	_, err := s.admin.RbacV1().ClusterRoles().Create(s.ctx, role, metav1.CreateOptions{})
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: harness.User}},
	}
	_, bound := bindings.Create(s.ctx, binding, metav1.CreateOptions{})
	return errors.Join(err, bound)
}

// work changes pods at a varying rate, and nodes, until the scene ends.
func (s *scene) work() {
	s.working.Go(func() {
		for i := 0; s.ctx.Err() == nil; i++ {
			pod := i * 7 % podCount
			_ = s.patchPod(pod, i) // other changes follow a failed one
			if i%10 == 0 {
				_, _ = s.admin.AppsV1().Deployments(harness.Namespace(0)).Patch(s.ctx, named("deployment", 0), types.MergePatchType, annotation(i), metav1.PatchOptions{})
				_, _ = s.admin.CoreV1().Nodes().Patch(s.ctx, named("node", i/10%nodeCount), types.MergePatchType, annotation(i), metav1.PatchOptions{})
			}
			_ = wait(s.ctx, time.Duration(30+25*math.Sin(float64(i)/150))*time.Millisecond)
		}
	})
}

func (s *scene) patchPod(pod, i int) error {
	_, err := s.admin.CoreV1().Pods(harness.Namespace(pod%namespaceCount)).Patch(s.ctx, harness.PodName(pod), types.MergePatchType, annotation(i), metav1.PatchOptions{})
	return err
}

func annotation(i int) []byte {
	return fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/turn":"%d"}}}`, i)
}
