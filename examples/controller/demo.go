package main

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/examples/internal/demo"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// beat is the time between two changes of the demo.
const beat = 300 * time.Millisecond

// story is a demo cluster in which Deployments come and go.
var story = demo.Story{Go: func(ctx context.Context, server *informertest.Server) error {
	client, err := kubernetes.NewForConfig(server.ClientConfig())
	if err != nil {
		return err
	}
	return demo.Repeat(ctx, server, beat, changes(ctx, client)...)
}}

// changes returns the changes of the demo, which are then repeated.
func changes(ctx context.Context, client kubernetes.Interface) []func() error {
	deployments, configMaps := client.AppsV1().Deployments("shop"), client.CoreV1().ConfigMaps("shop")
	create := func(name string, replicas int32) func() error {
		return func() error {
			_, err := deployments.Create(ctx, newDeployment(name, replicas), metav1.CreateOptions{})
			return err
		}
	}
	scale := func(name string, replicas int) func() error {
		patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
		return func() error {
			_, err := deployments.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
			return err
		}
	}
	meddle := func(name string) func() error {
		return func() error {
			_, err := configMaps.Patch(ctx, name, types.MergePatchType, []byte(`{"data":{"replicas":"many"}}`), metav1.PatchOptions{})
			return err
		}
	}
	remove := func(name string) func() error {
		return func() error { return deployments.Delete(ctx, name, metav1.DeleteOptions{}) }
	}
	return []func() error{
		create("web", 2), create("cart", 1), scale("web", 4), meddle("web"), remove("cart"), scale("web", 1), remove("web"),
	}
}

func newDeployment(name string, replicas int32) *appsv1.Deployment {
	app := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{wantedLabel: "wanted"}},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: app},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: app},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: name, Image: "registry.example/" + name + ":v1"}}},
			},
		},
	}
}
