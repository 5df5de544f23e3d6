package main

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/examples/internal/demo"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// beat is the time between two changes of the demo.
const beat = 300 * time.Millisecond

// demoNamespaces are watched if no namespaces are given. The demo labels another namespace, lab, from time to
// time.
var demoNamespaces = []string{"shop", "billing"}

// story is a demo cluster of three namespaces, in which pods and a label come and go.
var story = demo.Story{
	Begin: func(ctx context.Context, server *informertest.Server) error {
		for _, name := range append([]string{"lab"}, demoNamespaces...) {
			if err := errors.Join(server.Create(ctx, newNamespace(name, false)), server.Create(ctx, newPod(name, "web"))); err != nil {
				return err
			}
		}
		return nil
	},
	Go: func(ctx context.Context, server *informertest.Server) error {
		return demo.Repeat(ctx, server, beat,
			func() error { return server.Update(ctx, newNamespace("lab", true)) },
			func() error { return server.Create(ctx, newPod("lab", "seen")) },
			func() error { return server.Create(ctx, newPod("shop", "cart")) },
			func() error { return server.Delete(ctx, newPod("lab", "seen")) },
			func() error { return server.Update(ctx, newNamespace("lab", false)) },
			func() error { return server.Create(ctx, newPod("lab", "unseen")) },
			func() error { return server.Delete(ctx, newPod("lab", "unseen")) },
			func() error { return server.Delete(ctx, newPod("shop", "cart")) },
		)
	},
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
