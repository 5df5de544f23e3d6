package main

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/tidemark-k8s/tidemark/examples/internal/demo"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// beat is the time between two changes of the demo. lateness is the time before the resource appears.
const (
	beat     = 300 * time.Millisecond
	lateness = 1500 * time.Millisecond
)

// kind is the resource that crontab.yaml adds to a cluster.
var kind = informertest.Kind{GVR: resource, GVK: groupVersion.WithKind("CronTab"), Namespaced: true, Generation: true}

// story adds the resource to the demo cluster after a while. Then it changes an object at every beat.
var story = demo.Story{
	Go: func(ctx context.Context, server *informertest.Server) error {
		if err := demo.Wait(ctx, lateness); err != nil {
			return err
		}
		if err := server.Register(kind); err != nil {
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

// newCronTab returns an object without a Go type.
func newCronTab(name, schedule string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": groupVersion.String(),
		"kind":       kind.GVK.Kind,
		"metadata":   map[string]any{"namespace": "shop", "name": name},
		"spec":       map[string]any{"schedule": schedule, "image": "registry.example/" + name + ":v1"},
	}}
}
