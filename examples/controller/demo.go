package main

import (
	"context"
	"fmt"
	"log"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// beat is the time between two changes of the demo.
const beat = 300 * time.Millisecond

// startDemo starts a demo cluster. Deployments come and go in it until end is called.
func startDemo(ctx context.Context, notes *log.Logger) (config *rest.Config, end func(), err error) {
	server := informertest.New(informertest.Options{BookmarkInterval: time.Minute})
	if err := server.Start(); err != nil {
		server.Close()
		return nil, nil, fmt.Errorf("the demo cannot be started: %w", err)
	}
	notes.Printf("this is a demo, on an API server in this process, %s", server.ClientConfig().Host)
	ctx, cancel := context.WithCancel(ctx)
	var living sync.WaitGroup
	living.Go(func() {
		if err := live(ctx, server); ctx.Err() == nil {
			notes.Printf("the demo failed: %v", err)
		}
	})
	return server.ClientConfig(), func() {
		cancel()
		living.Wait()
		server.Close()
	}, nil
}

// live makes a change at every beat, until ctx ends or a change fails.
func live(ctx context.Context, server *informertest.Server) error {
	client, err := kubernetes.NewForConfig(server.ClientConfig())
	if err != nil {
		return err
	}
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for {
		for _, change := range story(client) {
			if err := change(ctx); err != nil && !apierrors.IsNotFound(err) { // users may change the demo cluster
				return err
			}
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		server.Compact() // otherwise the server keeps all old versions
	}
}

// story returns the changes of the demo, which repeat.
func story(client kubernetes.Interface) []func(context.Context) error {
	deployments, configMaps := client.AppsV1().Deployments("shop"), client.CoreV1().ConfigMaps("shop")
	create := func(name string, replicas int32) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := deployments.Create(ctx, newDeployment(name, replicas), metav1.CreateOptions{})
			return err
		}
	}
	scale := func(name string, replicas int) func(context.Context) error {
		patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
		return func(ctx context.Context) error {
			_, err := deployments.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
			return err
		}
	}
	meddle := func(name string) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := configMaps.Patch(ctx, name, types.MergePatchType, []byte(`{"data":{"replicas":"many"}}`), metav1.PatchOptions{})
			return err
		}
	}
	remove := func(name string) func(context.Context) error {
		return func(ctx context.Context) error { return deployments.Delete(ctx, name, metav1.DeleteOptions{}) }
	}
	return []func(context.Context) error{
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
