package factory

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// controller is written like sample-controller.
type controller struct {
	pods  corelisters.PodLister
	queue workqueue.TypedRateLimitingInterface[cache.ObjectName]
	print func(string, ...any)
}

func (c *controller) enqueue(obj any) {
	if name, err := cache.DeletionHandlingObjectToName(obj); err == nil {
		c.queue.Add(name)
	}
}

func (c *controller) work() {
	for {
		name, quit := c.queue.Get()
		if quit {
			return
		}
		if err := c.reconcile(name); err != nil {
			c.queue.AddRateLimited(name)
		} else {
			c.queue.Forget(name)
		}
		c.queue.Done(name)
	}
}

func (c *controller) reconcile(name cache.ObjectName) error {
	pod, err := c.pods.Pods(name.Namespace).Get(name.Name)
	if apierrors.IsNotFound(err) {
		c.print("reconcile %s: gone", name.Name)
		return nil
	}
	if err != nil {
		return err
	}
	c.print("reconcile %s: phase %s", pod.Name, pod.Status.Phase)
	return nil
}

func programController(ctx context.Context, from imports, print func(string, ...any)) error {
	client := fake.NewClientset(newPod("prod", "web"), newPod("prod", "db"))
	factory := from.newFactory(client, 10*time.Hour)
	pods := factory.Core().V1().Pods()
	c := &controller{pods.Lister(), workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName]()), print}
	if _, err := pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    c.enqueue,
		UpdateFunc: func(_, obj any) { c.enqueue(obj) },
		DeleteFunc: c.enqueue,
	}); err != nil {
		return err
	}
	run, stop := context.WithCancel(ctx)
	defer stop()
	factory.StartWithContext(run)
	if !cache.WaitForCacheSync(ctx.Done(), pods.Informer().HasSynced) {
		return fmt.Errorf("not synced")
	}
	var workers sync.WaitGroup
	for range 3 {
		workers.Go(c.work)
	}
	settle()
	web := newPod("prod", "web")
	web.Status.Phase = corev1.PodRunning
	if _, err := client.CoreV1().Pods("prod").UpdateStatus(ctx, web, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if err := client.CoreV1().Pods("prod").Delete(ctx, "db", metav1.DeleteOptions{}); err != nil {
		return err
	}
	settle()
	c.queue.ShutDown()
	workers.Wait()
	stop()
	factory.Shutdown()
	return nil
}
