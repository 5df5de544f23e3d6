package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// beat is the time between two changes of the demo.
const beat = 100 * time.Millisecond

// startDemo starts a demo cluster. Pods in its namespaces are replaced one by one, as by a
// Deployment.
func startDemo() (*cluster, error) {
	server := informertest.New(informertest.Options{BookmarkInterval: time.Minute})
	if err := server.Start(); err != nil {
		server.Close()
		return nil, fmt.Errorf("the demo cannot be started: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var living sync.WaitGroup
	living.Go(func() {
		if err := live(ctx, server); !errors.Is(err, context.Canceled) {
			klog.Background().Error(err, "The demo failed")
		}
	})
	return &cluster{config: server.ClientConfig(), close: func() {
		cancel()
		living.Wait()
		server.Close()
	}}, nil
}

// live replaces the oldest pod of each namespace in turn, until ctx ends or a change fails.
func live(ctx context.Context, server *informertest.Server) error {
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	pods := map[string][]*corev1.Pod{}
	for {
		for namespace, size := range map[string]int{"shop": 4, "billing": 2} {
			if err := replace(ctx, server, ticker, namespace, size, pods); err != nil {
				return err
			}
		}
		server.Compact() // otherwise the server keeps all old versions
	}
}

// replace creates a pod and makes it ready a beat later. Then it deletes the oldest pod, if there are
// more than size.
func replace(ctx context.Context, server *informertest.Server, ticker *time.Ticker, namespace string, size int, pods map[string][]*corev1.Pod) error {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "web-"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "registry.example/web"}}},
	}
	if err := server.Create(ctx, pod); err != nil {
		return err
	}
	select {
	case <-ticker.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	if err := server.Update(ctx, pod); err != nil {
		return err
	}
	pods[namespace] = append(pods[namespace], pod)
	if len(pods[namespace]) <= size {
		return nil
	}
	oldest := pods[namespace][0]
	pods[namespace] = pods[namespace][1:]
	return server.Delete(ctx, oldest)
}
