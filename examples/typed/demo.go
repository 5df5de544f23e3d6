package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tidemark-k8s/tidemark/examples/internal/demo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// beat is the time between two changes of the demo.
const beat = 300 * time.Millisecond

// demoPod is a pod that always exists.
var demoPod = indexer.Key{Namespace: "shop", Name: "web-0"}

// story is a demo cluster with a few pods. One of them is created and deleted again and again.
var story = demo.Story{
	Begin: func(ctx context.Context, server *informertest.Server) error {
		for i := range 4 {
			if err := server.Create(ctx, newPod([]string{"web", "cart"}[i%2], i/2)); err != nil {
				return err
			}
		}
		return nil
	},
	Go: func(ctx context.Context, server *informertest.Server) error {
		return demo.Repeat(ctx, server, beat,
			func() error {
				late := newPod("web", 2)
				late.Spec.NodeName, late.Status.Phase = "", corev1.PodPending
				return server.Create(ctx, late)
			},
			func() error { return server.Update(ctx, newPod("web", 2)) },
			func() error { return server.Delete(ctx, newPod("web", 2)) },
		)
	},
}

// newPod returns a running pod.
func newPod(app string, number int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: demoPod.Namespace,
			Name:      fmt.Sprintf("%s-%d", app, number),
			Labels:    map[string]string{"app": app},
			OwnerReferences: []metav1.OwnerReference{
				{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: app, UID: types.UID(app), Controller: new(true)},
			},
		},
		Spec:   corev1.PodSpec{NodeName: fmt.Sprintf("node-%d", number), Containers: []corev1.Container{{Name: app, Image: "registry.example/" + app + ":v1"}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}
