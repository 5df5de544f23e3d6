package main

import (
	"context"
	"log"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/shard"
)

// replica handles one share of the ConfigMaps.
type replica struct {
	share shard.Set
	out   *log.Logger
}

// run handles the ConfigMaps of the share until ctx ends. It returns an error if the informer did not sync in time.
func (r replica) run(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	// Only the named kinds are divided. Every replica reads all objects of other kinds: a controller that
	// looks up Secrets or Nodes by name needs all of them.
	f := factory.NewSharedInformerFactoryWithOptions(client, 0, factory.WithShard(shard.Static(r.share), &corev1.ConfigMap{}))
	defer f.Shutdown() // waits for the informer, which ends with ctx
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	configMaps, err := factory.For[*corev1.ConfigMap](f)
	if err != nil {
		return err
	}
	// The handler needs no predicate, because the store has only the objects of the share.
	handler, err := configMaps.Handle(informer.Funcs[*corev1.ConfigMap]{
		Added:   r.handle,
		Updated: func(_, c *corev1.ConfigMap) { r.handle(c) },
		Deleted: func(last *corev1.ConfigMap) { r.out.Printf("is done with %s/%s", last.Namespace, last.Name) },
	}, informer.HandlerOptions{Name: "sharded"})
	if err != nil {
		return err
	}
	r.out.Printf("reads by %v", r.share)
	f.StartWithContext(ctx)
	if err := configMaps.WaitSynced(ctx); err != nil {
		return err
	}
	select {
	case <-handler.Synced():
		r.out.Printf("handled all %d ConfigMaps of the share; dropped %d others", configMaps.Indexer().Len(), configMaps.Status().Shard.Foreign)
	case <-ctx.Done():
	}
	<-ctx.Done()
	return nil
}

// handle does the work, for one ConfigMap at a time. A controller with a work queue puts the UID into the
// item, in addition to the name. After a deletion, the name does not show which share the object belonged to.
func (r replica) handle(c *corev1.ConfigMap) {
	r.out.Printf("handles %s/%s at %s", c.Namespace, c.Name, c.ResourceVersion)
}
