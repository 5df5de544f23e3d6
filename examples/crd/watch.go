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

// patience is how long to wait before saying that one waits, or that the reason is another.
const patience = time.Second

// watch tells of the CronTabs of a cluster until ctx ends. Its error says why
// there were none by then.
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
	out.Printf("%s is there, objects: %d", resource.GroupResource(), typed.Indexer().Len())
	<-ctx.Done()
	return nil
}

// startTyped runs an informer of CronTabs until stop is called. They come from
// a factory that holds the built-in kinds, too.
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
	_, err = objects.Handle(tell(out, "typed", func(c *CronTab) string {
		return fmt.Sprintf("%s/%s runs %s %s", c.Namespace, c.Name, c.Spec.Image, c.Spec.Schedule)
	}), informer.HandlerOptions{})
	if err != nil {
		return nil, nil, err
	}
	return objects, begin(ctx, f), nil
}

// startDynamic does the same without a Go type. The dynamic factory is
// client-go's; As shows one of its informers with types.
func startDynamic(ctx context.Context, config *rest.Config, out *log.Logger) (objects *informer.Informer[*unstructured.Unstructured], stop func(), err error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	f := factory.NewDynamicSharedInformerFactory(client, 0)
	objects, _ = informer.As[*unstructured.Unstructured](f.ForResource(resource).Informer())
	_, err = objects.Handle(tell(out, "dynamic", func(u *unstructured.Unstructured) string {
		spec, _, _ := unstructured.NestedStringMap(u.Object, "spec")
		return fmt.Sprintf("%s/%s runs %s %s", u.GetNamespace(), u.GetName(), spec["image"], spec["schedule"])
	}), informer.HandlerOptions{})
	if err != nil {
		return nil, nil, err
	}
	return objects, begin(ctx, f), nil
}

// begin starts a factory, and returns what ends it.
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

// tell is a handler of objects of any type.
func tell[T informer.Object](out *log.Logger, who string, describe func(T) string) informer.Handler[T] {
	return informer.Funcs[T]{
		Added:   func(obj T) { out.Printf("%s + %s", who, describe(obj)) },
		Updated: func(_, obj T) { out.Printf("%s ~ %s", who, describe(obj)) },
		Deleted: func(last T) { out.Printf("%s - %s", who, describe(last)) },
	}
}

// waitFor waits until an informer has synced, and says what keeps it, once. An
// informer does not give up: it comes up when the resource does.
func waitFor[T informer.Object](ctx context.Context, objects *informer.Informer[T], notes *log.Logger) error {
	for told := ""; ; {
		short, stop := context.WithTimeout(ctx, patience)
		err := objects.WaitSynced(short)
		stop()
		if ctx.Err() != nil || !errors.Is(err, informer.ErrNotSynced) {
			return err
		}
		if why := strings.Join(strings.Fields(err.Error()), " "); why != told {
			notes.Printf("waiting: %s", why)
			told = why
		}
	}
}
