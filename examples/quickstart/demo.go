package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// demo starts an API server in this process, with pods that change their phase. The server ends with ctx.
func demo(ctx context.Context) (*rest.Config, error) {
	server := informertest.New(informertest.Options{})
	if err := server.StartInMemory(); err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, server.Close)
	for _, name := range []string{"web-0", "web-1", "cart-0"} {
		if err := server.Create(ctx, pod(name, corev1.PodPending)); err != nil {
			return nil, err
		}
	}
	go live(ctx, server)
	return server.ClientConfig(), nil
}

// live changes the phase of a pod every second.
func live(ctx context.Context, server *informertest.Server) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for n := 0; ; n++ {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		phase := []corev1.PodPhase{corev1.PodRunning, corev1.PodPending}[n/2%2]
		if err := server.Update(ctx, pod(fmt.Sprintf("web-%d", n%2), phase)); err != nil {
			return
		}
	}
}

func pod(name string, phase corev1.PodPhase) *corev1.Pod {
	app := name[:len(name)-2]
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{"app": app}},
		Status:     corev1.PodStatus{Phase: phase},
	}
}
