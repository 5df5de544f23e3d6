package main

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
)

// subject is an informer with the index by namespace, of whichever
// implementation.
type subject interface {
	handle(*counter) error
	run(context.Context) error
	get(indexer.Key) any
}

// shared is client-go's informer, or tidemark's that looks like it.
type shared struct {
	cache.SharedIndexInformer
	pods corelisters.PodLister // of a factory; nil for client-go's generated one
}

// handle asks for the counter's own resyncs, or for none. With client-go's face
// there are only some where the informer is made for it.
func (s shared) handle(c *counter) error {
	_, err := s.AddEventHandlerWithResyncPeriod(c.shared(), c.resync)
	return err
}

func (s shared) run(ctx context.Context) error {
	s.RunWithContext(ctx)
	return nil
}

func (s shared) get(key indexer.Key) any {
	obj, _, _ := s.GetIndexer().GetByKey(key.String()) // it has no error to return
	return obj
}

func (s shared) lister() corelisters.PodLister {
	if s.pods != nil {
		return s.pods
	}
	return corelisters.NewPodLister(s.GetIndexer())
}

// own is tidemark's informer.
type own[T informer.Object] struct{ *informer.Informer[T] }

func (s own[T]) handle(c *counter) error {
	_, err := s.Handle(counting[T](c), informer.HandlerOptions{Delivery: c.delivery, Resync: c.resync})
	return err
}

func (s own[T]) run(ctx context.Context) error { return s.Run(ctx) }

func (s own[T]) get(key indexer.Key) any {
	obj, _ := s.Indexer().Get(key)
	return obj
}

// maker makes an informer of an origin.
type maker func(implementation, origin) subject

func newPods(i implementation, from origin) subject {
	return newSubject[*corev1.Pod](i, from, &corev1.Pod{}, 0)
}

// newInspectedPods makes an informer of tidemark's that somebody inspects.
func newInspectedPods(i implementation, from origin) subject {
	s := newPods(i, from)
	switch made := s.(type) {
	case shared:
		if ours, ok := informer.SharedOf(made.SharedIndexInformer); ok {
			ours.Inspector()
		}
	case own[*corev1.Pod]:
		made.Inspector()
	}
	return s
}

// newResyncingPods makes an informer whose handlers may ask for resyncs.
func newResyncingPods(i implementation, from origin) subject {
	return newSubject[*corev1.Pod](i, from, &corev1.Pod{}, resyncPeriod)
}

func newUnstructured(i implementation, from origin) subject {
	return newSubject[*unstructured.Unstructured](i, from, &unstructured.Unstructured{}, 0)
}

func newSubject[T informer.Object](i implementation, from origin, example runtime.Object, resync time.Duration) subject {
	switch i {
	case clientgo:
		return shared{SharedIndexInformer: cache.NewSharedIndexInformer(listerWatcher{from}, example, resync, byNamespace())}
	case face:
		return shared{SharedIndexInformer: informer.NewSharedIndexInformer(listerWatcher{from}, example, resync, byNamespace())}
	default:
		return own[T]{informer.New(from, informer.Options[T]{Resource: schema.GroupResource{Resource: "pods"}})}
	}
}

func byNamespace() cache.Indexers {
	return cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
}
