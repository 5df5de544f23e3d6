package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// App takes the place of a Deployment.
type App struct {
	Namespace, Name string
	Replicas        int
	pods            []*corev1.Pod // the oldest first
}

// Apps returns three apps in a namespace. If the namespace is empty, they are in two namespaces.
func Apps(namespace string) []App {
	return []App{
		{Namespace: cmp.Or(namespace, "shop"), Name: "web", Replicas: 3},
		{Namespace: cmp.Or(namespace, "shop"), Name: "cart", Replicas: 2},
		{Namespace: cmp.Or(namespace, "billing"), Name: "invoices", Replicas: 2},
	}
}

// Pods is a story of apps whose pods are replaced one by one, with a change every 100 ms. Every few seconds
// the API server restarts and loses its history.
func Pods(notes *log.Logger, apps ...App) Story {
	return Story{Go: func(ctx context.Context, server *informertest.Server) error {
		var round []func() error
		for i := range apps {
			a := &apps[i]
			if err := a.populate(ctx, server); err != nil {
				return err
			}
			round = append(round, a.replacement(ctx, server)...)
		}
		changes := append(slices.Repeat(round, 5), apps[0].outage(ctx, server, notes))
		return Repeat(ctx, server, 100*time.Millisecond, changes...)
	}}
}

// populate creates the first pods.
func (a *App) populate(ctx context.Context, server *informertest.Server) error {
	for range a.Replicas {
		pod := a.newPod()
		begin(pod)
		if err := a.add(ctx, server, pod); err != nil {
			return err
		}
	}
	return nil
}

// replacement returns the changes that replace the oldest pod of an app.
func (a *App) replacement(ctx context.Context, server *informertest.Server) []func() error {
	newest := func() *corev1.Pod { return a.pods[len(a.pods)-1] }
	return []func() error{
		func() error { return a.add(ctx, server, a.newPod()) },
		func() error { return update(ctx, server, newest(), begin) },
		func() error { return update(ctx, server, a.pods[0], retire) },
		func() error { return a.removeOldest(ctx, server) },
	}
}

// outage returns a function that restarts the API server without its history, while the oldest pod of an app
// is replaced.
func (a *App) outage(ctx context.Context, server *informertest.Server, notes *log.Logger) func() error {
	return func() error {
		notes.Print("demo: the API server restarts without its history while a pod is replaced; the informer lists all pods again, and finds both changes")
		resume := server.Stall(informertest.Request{})
		defer resume()
		server.CutWatches()
		pod := a.newPod()
		begin(pod)
		err := errors.Join(a.add(ctx, server, pod), a.removeOldest(ctx, server))
		server.Compact()
		return err
	}
}

func (a *App) add(ctx context.Context, server *informertest.Server, pod *corev1.Pod) error {
	a.pods = append(a.pods, pod)
	return server.Create(ctx, pod)
}

func (a *App) removeOldest(ctx context.Context, server *informertest.Server) error {
	oldest := a.pods[0]
	a.pods = a.pods[1:]
	return server.Delete(ctx, oldest)
}

func update(ctx context.Context, server *informertest.Server, pod *corev1.Pod, change func(*corev1.Pod)) error {
	change(pod)
	return server.Update(ctx, pod)
}

func (a *App) newPod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: a.Namespace,
			Name:      a.Name + "-7c5ddbdf54-" + rand.String(5),
			Labels:    map[string]string{"app": a.Name, "pod-template-hash": "7c5ddbdf54", "track": "stable"},
		},
		Spec:   corev1.PodSpec{Containers: []corev1.Container{{Name: a.Name, Image: "registry.example/" + a.Name + ":v1"}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
}

// begin marks a pod as running, as a scheduler and a kubelet would.
func begin(pod *corev1.Pod) {
	now := metav1.Now()
	pod.Spec.NodeName = fmt.Sprintf("node-%d", rand.IntnRange(1, 4))
	pod.Status.Phase, pod.Status.StartTime = corev1.PodRunning, &now
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: now}}
}

// retire labels a pod that is about to be deleted.
func retire(pod *corev1.Pod) { pod.Labels["track"] = "retiring" }
