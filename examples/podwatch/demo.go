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
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// beat is the time between two changes of the demo.
const beat = 100 * time.Millisecond

// demo is a demo cluster. The pods of some apps are replaced one by one all the time, as by a
// Deployment.
type demo struct {
	server *informertest.Server
	apps   []*app
	ticker *time.Ticker // between two changes
}

// app stands for a Deployment.
type app struct {
	namespace, name, hash string
	replicas              int
	pods                  []*corev1.Pod // the oldest first
}

// startDemo starts a demo cluster, with pods in one namespace or, if namespace is empty, in several.
// It prints why, and the address of the API server.
func startDemo(ctx context.Context, namespace, why string, notes *log.Logger) (*cluster, error) {
	server := informertest.New(informertest.Options{BookmarkInterval: time.Minute})
	err := server.Start()
	config := server.ClientConfig()
	client, clientErr := kubernetes.NewForConfig(config)
	if err == nil {
		err = clientErr
	}
	if err != nil {
		server.Close()
		return nil, fmt.Errorf("the demo cannot be started: %w", err)
	}
	d := &demo{server: server, apps: demoApps(namespace), ticker: time.NewTicker(beat)}
	notes.Printf("%s, on an API server in this process, %s; its pods have labels such as app=%s", why, config.Host, d.apps[0].name)

	ctx, cancel := context.WithCancel(ctx)
	var living sync.WaitGroup
	living.Go(func() {
		if err := d.live(ctx); ctx.Err() == nil {
			notes.Printf("the demo failed: %s", oneLine(err.Error()))
		}
	})
	return &cluster{client: client, server: config.Host, origin: "the demo", close: func() {
		cancel()
		living.Wait()
		d.ticker.Stop()
		server.Close()
	}}, nil
}

func demoApps(namespace string) []*app {
	apps := []*app{
		{namespace: "shop", name: "web", hash: "7c5ddbdf54", replicas: 3},
		{namespace: "shop", name: "cart", hash: "66b6c48dd5", replicas: 2},
		{namespace: "billing", name: "invoices", hash: "5d59d67564", replicas: 2},
	}
	for _, a := range apps {
		if namespace != "" {
			a.namespace = namespace
		}
	}
	return apps
}

// live makes a change at every beat, until ctx ends or a change fails.
func (d *demo) live(ctx context.Context) error {
	for _, a := range d.apps {
		if err := d.populate(ctx, a); err != nil {
			return err
		}
	}
	for {
		for _, a := range d.apps {
			if err := d.replace(ctx, a); err != nil {
				return err
			}
		}
		d.server.Compact() // otherwise the server keeps all old versions
	}
}

// populate creates the first pods of an app.
func (d *demo) populate(ctx context.Context, a *app) error {
	for range a.replicas {
		pod := a.newPod()
		begin(pod)
		pod, err := d.create(ctx, pod)
		if err != nil {
			return err
		}
		a.pods = append(a.pods, pod)
	}
	return nil
}

// replace adds a pod to an app, and removes the oldest.
func (d *demo) replace(ctx context.Context, a *app) error {
	if err := d.wait(ctx); err != nil {
		return err
	}
	pod, err := d.create(ctx, a.newPod())
	if err != nil {
		return err
	}
	if pod, err = d.update(ctx, pod, begin); err != nil {
		return err
	}
	oldest := a.pods[0]
	a.pods = append(a.pods[1:], pod)
	if oldest, err = d.update(ctx, oldest, retire); err != nil {
		return err
	}
	return d.remove(ctx, oldest)
}

func (d *demo) create(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	return pod, d.server.Create(ctx, pod)
}

// update changes a pod, unless a user has changed or deleted it meanwhile.
func (d *demo) update(ctx context.Context, pod *corev1.Pod, change func(*corev1.Pod)) (*corev1.Pod, error) {
	if err := d.wait(ctx); err != nil {
		return nil, err
	}
	changed := pod.DeepCopy()
	change(changed)
	err := d.server.Update(ctx, changed)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return pod, nil
	}
	return changed, err
}

func (d *demo) remove(ctx context.Context, pod *corev1.Pod) error {
	if err := d.wait(ctx); err != nil {
		return err
	}
	err := d.server.Delete(ctx, pod)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// wait waits for the next beat.
func (d *demo) wait(ctx context.Context) error {
	select {
	case <-d.ticker.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (a *app) newPod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: a.namespace,
			Name:      a.name + "-" + a.hash + "-" + rand.String(5),
			Labels:    map[string]string{"app": a.name, "pod-template-hash": a.hash, "track": "stable"},
		},
		Spec:   corev1.PodSpec{Containers: []corev1.Container{{Name: a.name, Image: "registry.example/" + a.name + ":v1"}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
}

// begin makes a pod run, as a scheduler and a kubelet would.
func begin(pod *corev1.Pod) {
	now := metav1.Now()
	pod.Spec.NodeName = fmt.Sprintf("node-%d", rand.IntnRange(1, 4))
	pod.Status.Phase, pod.Status.StartTime = corev1.PodRunning, &now
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: now}}
}

// retire labels a pod that is about to be deleted.
func retire(pod *corev1.Pod) { pod.Labels["track"] = "retiring" }
