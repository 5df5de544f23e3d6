package informertest_test

import (
	"context"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// A real clientset sends requests to the server over HTTP.
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

// A source needs no network. A test can cause events that take minutes in a cluster: here the history
// expires, and so does the watch.
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

// A CRD needs no Go type. The dynamic client, whose objects are maps, works as with a cluster.
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

// The first update is a conflict, as if another client had written first. The second update succeeds.
func ExampleServer_Intercept() {
	ctx := context.Background()
	server := informertest.New(informertest.Options{})
	defer server.Close()
	if err := server.StartInMemory(); err != nil {
		fmt.Println(err)
		return
	}
	client, err := kubernetes.NewForConfig(server.ClientConfig())
	if err != nil {
		fmt.Println(err)
		return
	}
	var once sync.Once
	undo := server.Intercept(func(_ context.Context, r informertest.Request) (err error) {
		if r.Verb == "update" && r.Resource == "pods" {
			once.Do(func() { err = apierrors.NewConflict(corev1.Resource(r.Resource), r.Name, errors.New("too late")) })
		}
		return err
	})
	defer undo()

	pod, err := client.CoreV1().Pods("prod").Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}}, metav1.CreateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		_, err = client.CoreV1().Pods("prod").Update(ctx, pod, metav1.UpdateOptions{})
		fmt.Println(err)
	}
	// Output:
	// Operation cannot be fulfilled on pods "web": too late
	// <nil>
}
