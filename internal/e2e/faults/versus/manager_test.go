package versus

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
	"github.com/tidemark-k8s/tidemark/internal/process"
)

var widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

// The widgets and their pods have their own namespace.
const (
	widgetNamespace = metav1.NamespaceDefault
	widgetCount     = 50
	widgetReplicas  = 4
)

// defineWidgets defines the kind Widget.
func (w *world) defineWidgets() {
	w.define(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": definitions.GroupVersion().String(), "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": widgets.GroupResource().String()},
		"spec": map[string]any{
			"group": widgets.Group, "scope": "Namespaced",
			"names": map[string]any{"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
			"versions": []any{map[string]any{
				"name": widgets.Version, "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			}},
		},
	}}, widgets)
}

// buildFleet builds the program fleet, and returns the path of the binary.
func (w *world) buildFleet() string {
	file := filepath.Join(w.dir, "fleet")
	build := exec.CommandContext(w.b.Context(), "go", "build", "-o", file, "github.com/tidemark-k8s/tidemark/internal/e2e/faults/fleet")
	text, err := build.CombinedOutput()
	require.NoError(w.b, err, "%s", text)
	return file
}

// manage runs fleet, a controller-runtime manager whose cache has all pods, until the pods of all
// widgets exist and are ready.
func (w *world) manage(b *testing.B, impl, fleet string) sample {
	w.createWidgets(b)
	kubeconfig := filepath.Join(w.dir, "kubeconfig")
	require.NoError(b, w.cluster.WriteKubeconfig(kubeconfig, w.proxy.Address()))
	began := time.Now()
	p := harness.NewProcess(fleet, w.dir, "KUBECONFIG="+kubeconfig, "FLEET_ON="+impl)
	require.NoError(b, p.Start(b.Context()))
	defer p.Kill()
	require.NoError(b, w.widgetsReady(b), "%s", p.LogTail())
	measured := sample{Wall: time.Since(began), CPU: process.CPUOf(p.PID()), Peak: process.PeakRSSOf(p.PID())}
	p.Kill()
	w.removeWidgets(b)
	return measured
}

func (w *world) createWidgets(b *testing.B) {
	require.NoError(b, harness.Each(b.Context(), harness.Creators, widgetCount, func(ctx context.Context, i int) error {
		_, err := w.client.Resource(widgets).Namespace(widgetNamespace).Create(ctx, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": widgets.GroupVersion().String(), "kind": "Widget", "metadata": map[string]any{"name": fmt.Sprint("widget-", i)},
			"spec": map[string]any{"replicas": int64(widgetReplicas), "image": "registry.example.com/widget:1"},
		}}, metav1.CreateOptions{})
		return err
	}))
}

// widgetsReady waits until all pods of the widgets exist and are ready.
func (w *world) widgetsReady(b *testing.B) error {
	return wait.PollUntilContextTimeout(b.Context(), 200*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		list, err := w.client.Resource(podResource).Namespace(widgetNamespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		ready := 0
		for i := range list.Items {
			if conditions, _, _ := unstructured.NestedSlice(list.Items[i].Object, "status", "conditions"); len(conditions) > 0 {
				ready++
			}
		}
		return ready == widgetCount*widgetReplicas, nil
	})
}

// removeWidgets deletes the widgets and their pods.
func (w *world) removeWidgets(b *testing.B) {
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}
	for _, resource := range []schema.GroupVersionResource{widgets, podResource} {
		require.NoError(b, w.client.Resource(resource).Namespace(widgetNamespace).DeleteCollection(b.Context(), now, metav1.ListOptions{}))
	}
}
