package main

import (
	"context"
	"fmt"
	"log"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// beat is the time between two changes of the demo.
const beat = 300 * time.Millisecond

// demoPod is a pod that always exists.
var demoPod = indexer.Key{Namespace: "shop", Name: "web-0"}

// startDemo starts a demo cluster with some pods. One of them comes and goes until end is called.
func startDemo(ctx context.Context, notes *log.Logger) (config *rest.Config, end func(), err error) {
	server := informertest.New(informertest.Options{BookmarkInterval: time.Minute})
	err = server.Start()
	for i := 0; err == nil && i < 4; i++ {
		err = server.Create(context.WithoutCancel(ctx), newPod([]string{"web", "cart"}[i%2], i/2))
	}
	if err != nil {
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
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for {
		late := newPod("web", 2)
		late.Spec.NodeName, late.Status.Phase = "", corev1.PodPending
		for _, change := range []func() error{
			func() error { return server.Create(ctx, late) },
			func() error { return server.Update(ctx, newPod("web", 2)) },
			func() error { return server.Delete(ctx, late) },
		} {
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			if err := change(); err != nil && !apierrors.IsNotFound(err) { // users may change the demo cluster
				return err
			}
		}
		server.Compact() // otherwise the server keeps all old versions
	}
}

// newPod returns a running pod.
func newPod(app string, number int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: demoPod.Namespace,
			Name:      fmt.Sprintf("%s-%d", app, number),
			Labels:    map[string]string{"app": app},
		},
		Spec:   corev1.PodSpec{NodeName: fmt.Sprintf("node-%d", number), Containers: []corev1.Container{{Name: app, Image: "registry.example/" + app + ":v1"}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}
