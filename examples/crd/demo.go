package main

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tidemark-k8s/tidemark/examples/internal/demo"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// beat is the time between two changes of the demo, and lateness the time before the resource
// appears.
const (
	beat     = 300 * time.Millisecond
	lateness = 1500 * time.Millisecond
)

// kind is the resource that crontab.yaml adds to a cluster.
var kind = informertest.Kind{GVR: resource, GVK: groupVersion.WithKind("CronTab"), Namespaced: true, Generation: true}

// definitionKind is CustomResourceDefinition. A cluster announces its custom resources with such
// objects. An informer watches the definition of its resource, so it starts at once when the
// resource appears.
var definitionKind = informertest.Kind{
	GVR: schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
	GVK: schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
}

// story adds the resource to the demo cluster after a while, and then changes an object at every beat.
var story = demo.Story{
	Begin: func(_ context.Context, server *informertest.Server) error { return server.Register(definitionKind) },
	Go: func(ctx context.Context, server *informertest.Server) error {
		if err := demo.Wait(ctx, lateness); err != nil {
			return err
		}
		if err := define(ctx, server); err != nil {
			return err
		}
		if err := server.Create(ctx, newCronTab("backup", "daily")); err != nil {
			return err
		}
		return demo.Repeat(ctx, server, beat,
			func() error { return server.Create(ctx, newCronTab("report", "weekly")) },
			func() error { return server.Update(ctx, newCronTab("report", "monthly")) },
			func() error { return server.Delete(ctx, newCronTab("report", "monthly")) },
		)
	},
}

// define makes the cluster serve the resource, as crontab.yaml does.
func define(ctx context.Context, server *informertest.Server) error {
	if err := server.Register(kind); err != nil {
		return err
	}
	return server.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": definitionKind.GVK.GroupVersion().String(),
		"kind":       definitionKind.GVK.Kind,
		"metadata":   map[string]any{"name": resource.GroupResource().String()},
		"spec":       map[string]any{"versions": []any{map[string]any{"name": resource.Version, "served": true}}},
		"status":     map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": "True"}}},
	}})
}

// newCronTab returns an object as a server without a Go type for it sees it.
func newCronTab(name, schedule string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": groupVersion.String(),
		"kind":       kind.GVK.Kind,
		"metadata":   map[string]any{"namespace": "shop", "name": name},
		"spec":       map[string]any{"schedule": schedule, "image": "registry.example/" + name + ":v1"},
	}}
}
