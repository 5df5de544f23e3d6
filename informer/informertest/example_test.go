package informertest_test

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// A real clientset talks to the server over HTTP.
func Example() {
	ctx := context.Background()
	server := informertest.New(informertest.Options{})
	defer server.Close()
	if err := server.Start(); err != nil {
		fmt.Println(err)
		return
	}
	client, err := kubernetes.NewForConfig(server.ClientConfig())
	if err != nil {
		fmt.Println(err)
		return
	}

	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "web"}}
	if err := server.Create(ctx, pod); err != nil {
		fmt.Println(err)
		return
	}
	pods, err := client.CoreV1().Pods("prod").List(ctx, metav1.ListOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(pods.Items), "pod, at version", pods.ResourceVersion)
	// Output: 1 pod, at version 2
}

// A source needs no network. What a cluster does within minutes, a test does
// at once: here the history expires, and with it the watch.
func ExampleServer_Compact() {
	ctx := context.Background()
	server := informertest.New(informertest.Options{})
	defer server.Close()

	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "web"}}
	if err := server.Create(ctx, pod); err != nil {
		fmt.Println(err)
		return
	}
	server.Compact()

	pods := server.Source(corev1.SchemeGroupVersion.WithResource("pods"), "prod")
	watch, err := pods.Watch(ctx, metav1.ListOptions{ResourceVersion: "1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer watch.Stop()
	event := <-watch.ResultChan()
	fmt.Println(event.Type, event.Object.(*metav1.Status).Message)
	// Output: ERROR too old resource version: 1 (2)
}

// A CRD needs no Go type. The dynamic client, whose objects are maps, works
// with it as on a cluster.
func ExampleServer_Register() {
	ctx := context.Background()
	server := informertest.New(informertest.Options{})
	defer server.Close()
	version := schema.GroupVersion{Group: "example.com", Version: "v1"}
	crons := version.WithResource("crons")
	err := errors.Join(
		server.Start(),
		server.Register(informertest.Kind{GVR: crons, GVK: version.WithKind("Cron"), Namespaced: true, Status: true}),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := dynamic.NewForConfig(server.ClientConfig())
	if err != nil {
		fmt.Println(err)
		return
	}

	cron := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Cron",
		"metadata": map[string]any{"name": "backup"},
		"spec":     map[string]any{"schedule": "daily"},
	}}
	cron, err = client.Resource(crons).Namespace("prod").Create(ctx, cron, metav1.CreateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	patch := []byte(`{"status":{"phase":"Scheduled"}}`)
	cron, err = client.Resource(crons).Namespace("prod").Patch(ctx, cron.GetName(), types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cron.Object["spec"], cron.Object["status"], cron.GetResourceVersion())
	// Output: map[schedule:daily] map[phase:Scheduled] 3
}
