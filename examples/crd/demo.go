package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

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

// startDemo starts a demo cluster, which gets the resource and some objects after a while. It
// ends when end is called.
func startDemo(ctx context.Context, notes *log.Logger) (config *rest.Config, end func(), err error) {
	server := informertest.New(informertest.Options{BookmarkInterval: time.Minute})
	if err := errors.Join(server.Register(definitionKind), server.Start()); err != nil {
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

// live registers the resource, and then makes a change at every beat, until ctx ends or a change
// fails.
func live(ctx context.Context, server *informertest.Server) error {
	if err := wait(ctx, lateness); err != nil {
		return err
	}
	if err := define(ctx, server); err != nil {
		return err
	}
	if err := server.Create(ctx, newCronTab("backup", "daily")); err != nil {
		return err
	}
	for {
		for _, change := range []func() error{
			func() error { return server.Create(ctx, newCronTab("report", "weekly")) },
			func() error { return server.Update(ctx, newCronTab("report", "monthly")) },
			func() error { return server.Delete(ctx, newCronTab("report", "monthly")) },
		} {
			if err := wait(ctx, beat); err != nil {
				return err
			}
			if err := change(); err != nil && !apierrors.IsNotFound(err) { // users may change the demo cluster
				return err
			}
		}
		server.Compact() // otherwise the server keeps all old versions
	}
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

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
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
