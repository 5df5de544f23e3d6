package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/informer"
)

// patience is how long the program waits before it prints that it waits, or that the reason has changed.
const patience = time.Second

// watch prints the changes of a cluster's CronTabs until ctx ends. It returns an error if the
// informers did not sync in time.
func watch(ctx context.Context, config *rest.Config, out, notes *log.Logger) error {
	typed, stopTyped, err := startTyped(ctx, config, out)
	if err != nil {
		return err
	}
	defer stopTyped()
	untyped, stopUntyped, err := startDynamic(ctx, config, out)
	if err != nil {
		return err
	}
	defer stopUntyped()

	if err := waitFor(ctx, typed, notes); err != nil {
		return err
	}
	if err := waitFor(ctx, untyped, notes); err != nil {
		return err
	}
	out.Printf("%s exists, objects: %d", resource.GroupResource(), typed.Indexer().Len())
	<-ctx.Done()
	return nil
}

// startTyped runs an informer of CronTabs until stop is called. The factory also has the built-in kinds.
func startTyped(ctx context.Context, config *rest.Config, out *log.Logger) (objects *informer.Informer[*CronTab], stop func(), err error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	source, err := cronTabs(config)
	if err != nil {
		return nil, nil, err
	}
	f := factory.NewSharedInformerFactory(client, 0)
	if err := factory.Register[*CronTab](f, source); err != nil {
		return nil, nil, err
	}
	objects, err = factory.For[*CronTab](f)
	if err != nil {
		return nil, nil, err
	}
	_, err = objects.Handle(printer(out, "typed", func(c *CronTab) string {
		return fmt.Sprintf("%s/%s runs %s %s", c.Namespace, c.Name, c.Spec.Image, c.Spec.Schedule)
	}), informer.HandlerOptions{})
	if err != nil {
		return nil, nil, err
	}
	return objects, begin(ctx, f), nil
}

// startDynamic does the same without a Go type. The dynamic factory has client-go's API, and As returns one
// of its informers with types.
func startDynamic(ctx context.Context, config *rest.Config, out *log.Logger) (objects *informer.Informer[*unstructured.Unstructured], stop func(), err error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	f := factory.NewDynamicSharedInformerFactory(client, 0)
	objects, _ = informer.As[*unstructured.Unstructured](f.ForResource(resource).Informer())
	_, err = objects.Handle(printer(out, "dynamic", func(u *unstructured.Unstructured) string {
		spec, _, _ := unstructured.NestedStringMap(u.Object, "spec")
		return fmt.Sprintf("%s/%s runs %s %s", u.GetNamespace(), u.GetName(), spec["image"], spec["schedule"])
	}), informer.HandlerOptions{})
	if err != nil {
		return nil, nil, err
	}
	return objects, begin(ctx, f), nil
}

// begin starts a factory, and returns a function that stops it.
func begin(ctx context.Context, f interface {
	StartWithContext(context.Context)
	Shutdown()
}) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	f.StartWithContext(ctx)
	return func() {
		cancel()
		f.Shutdown()
	}
}

// printer returns a handler of objects of any type.
func printer[T informer.Object](out *log.Logger, name string, describe func(T) string) informer.Handler[T] {
	return informer.Funcs[T]{
		Added:   func(obj T) { out.Printf("%s + %s", name, describe(obj)) },
		Updated: func(_, obj T) { out.Printf("%s ~ %s", name, describe(obj)) },
		Deleted: func(last T) { out.Printf("%s - %s", name, describe(last)) },
	}
}

// waitFor waits until an informer has synced, and prints each new reason for the wait once. The informer
// never gives up. It syncs when the resource appears.
func waitFor[T informer.Object](ctx context.Context, objects *informer.Informer[T], notes *log.Logger) error {
	for printed := ""; ; {
		short, stop := context.WithTimeout(ctx, patience)
		err := objects.WaitSynced(short)
		stop()
		if ctx.Err() != nil || !errors.Is(err, informer.ErrNotSynced) {
			return err
		}
		if why := strings.Join(strings.Fields(err.Error()), " "); why != printed {
			notes.Printf("waiting: %s", why)
			printed = why
		}
	}
}
