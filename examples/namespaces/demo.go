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

	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// beat is the time between two changes of the demo.
const beat = 300 * time.Millisecond

// demoNamespaces are watched if no namespaces are given. The namespace lab, which is not among
// them, is labelled from time to time.
var demoNamespaces = []string{"shop", "billing"}

// startDemo starts a demo cluster. Pods and a label come and go in it until end is called.
func startDemo(ctx context.Context, notes *log.Logger) (config *rest.Config, end func(), err error) {
	server := informertest.New(informertest.Options{BookmarkInterval: time.Minute})
	err = server.Start()
	for _, name := range append([]string{"lab"}, demoNamespaces...) {
		if err == nil {
			err = server.Create(context.WithoutCancel(ctx), newNamespace(name, false))
		}
		if err == nil {
			err = server.Create(context.WithoutCancel(ctx), newPod(name, "web"))
		}
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
		for _, change := range []func() error{
			func() error { return server.Update(ctx, newNamespace("lab", true)) },
			func() error { return server.Create(ctx, newPod("lab", "seen")) },
			func() error { return server.Create(ctx, newPod("shop", "cart")) },
			func() error { return server.Delete(ctx, newPod("lab", "seen")) },
			func() error { return server.Update(ctx, newNamespace("lab", false)) },
			func() error { return server.Create(ctx, newPod("lab", "unseen")) },
			func() error { return server.Delete(ctx, newPod("lab", "unseen")) },
			func() error { return server.Delete(ctx, newPod("shop", "cart")) },
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

func newNamespace(name string, watched bool) *corev1.Namespace {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if watched {
		namespace.Labels = map[string]string{watchedLabel: "yes"}
	}
	return namespace
}

func newPod(namespace, app string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: app, Labels: map[string]string{"app": app}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: app, Image: "registry.example/" + app + ":v1"}}},
	}
}
