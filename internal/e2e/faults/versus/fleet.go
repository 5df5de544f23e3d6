package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
)

var widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

// The widgets, and the pods that fleet makes of them, have a namespace to
// themselves.
const (
	widgetNamespace = metav1.NamespaceDefault
	widgetCount     = 50
	widgetReplicas  = 4
)

// fillWidgets makes what fleet needs: the pods, which it caches, the kind that it
// works for, and fleet itself.
func (s *stage) fillWidgets() error {
	crd := &unstructured.Unstructured{Object: map[string]any{
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
	}}
	if err := s.define(crd, widgets); err != nil {
		return err
	}
	if err := s.fillPods(s.pods, s.unique); err != nil {
		return err
	}
	build := exec.CommandContext(s.ctx, "go", "build", "-o", s.fleetFile(), "github.com/tidemark-k8s/tidemark/internal/e2e/faults/fleet")
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	return nil
}

func (s *stage) fleetFile() string { return filepath.Join(s.dir, "fleet") }

// fleet runs the program of that name, a controller-runtime manager whose cache
// holds all pods, until the pods of all widgets are there and ready.
func (s *stage) fleet(t task) (sample, error) {
	if err := s.createWidgets(); err != nil {
		return sample{}, err
	}
	kubeconfig := filepath.Join(s.dir, "kubeconfig")
	if err := s.cluster.WriteKubeconfig(kubeconfig, s.proxy.Address()); err != nil {
		return sample{}, err
	}
	on := "client-go"
	if t.Tidemark {
		on = "tidemark"
	}
	began := time.Now()
	p := harness.NewProcess(s.fleetFile(), s.dir, "KUBECONFIG="+kubeconfig, "FLEET_ON="+on)
	if err := p.Start(s.ctx); err != nil {
		return sample{}, err
	}
	defer p.Kill()
	if err := s.widgetsReady(); err != nil {
		return sample{}, fmt.Errorf("%w\n%s", err, p.LogTail())
	}
	id := strconv.Itoa(p.PID())
	measured := sample{Wall: time.Since(began), CPU: cpuTimeOf(id), Peak: peak(id)}
	p.Kill()
	return measured, s.removeWidgets()
}

func (s *stage) createWidgets() error {
	return harness.Each(s.ctx, harness.Creators, widgetCount, func(ctx context.Context, i int) error {
		_, err := s.client.Resource(widgets).Namespace(widgetNamespace).Create(ctx, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": widgets.GroupVersion().String(), "kind": "Widget", "metadata": map[string]any{"name": fmt.Sprint("widget-", i)},
			"spec": map[string]any{"replicas": int64(widgetReplicas), "image": "registry.example.com/widget:1"},
		}}, metav1.CreateOptions{})
		return err
	})
}

// widgetsReady waits until there are all pods of widgets, and all are ready.
func (s *stage) widgetsReady() error {
	return wait.PollUntilContextTimeout(s.ctx, 200*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		list, err := s.client.Resource(podResource).Namespace(widgetNamespace).List(ctx, metav1.ListOptions{})
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

// removeWidgets leaves all as it was, without fleet.
func (s *stage) removeWidgets() error {
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}
	for _, resource := range []schema.GroupVersionResource{widgets, podResource} {
		if err := s.client.Resource(resource).Namespace(widgetNamespace).DeleteCollection(s.ctx, now, metav1.ListOptions{}); err != nil {
			return err
		}
	}
	return nil
}
