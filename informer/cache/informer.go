package cache

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tidemark-k8s/tidemark/informer"
)

// SetInformerMetricsProvider is package informer's function of that name.
var SetInformerMetricsProvider = informer.SetInformerMetricsProvider

// NewSharedInformer is client-go's function of that name, for this module's informer.
func NewSharedInformer(lw ListerWatcher, example runtime.Object, resync time.Duration) SharedInformer {
	return NewSharedIndexInformer(lw, example, resync, Indexers{})
}

// NewSharedIndexInformer is client-go's function of that name, for this module's informer. The objects may be
// of any type; example is the expected one. The next call that returns an error reports misuse, and Run logs
// it.
func NewSharedIndexInformer(lw ListerWatcher, example runtime.Object, resync time.Duration, ix Indexers) SharedIndexInformer {
	return NewSharedIndexInformerWithOptions(lw, example, SharedIndexInformerOptions{ResyncPeriod: resync, Indexers: ix})
}

// NewSharedIndexInformerWithOptions is client-go's function of that name, for this module's informer.
func NewSharedIndexInformerWithOptions(lw ListerWatcher, example runtime.Object, o SharedIndexInformerOptions) SharedIndexInformer {
	return informer.ForListerWatcher(lw, example, o)
}

// NewInformerWithOptions is client-go's function of that name, for this module's informer. The informer has a
// single handler, with its own goroutine, and its store is always an [Indexer]. Run logs misuse, such as a
// nil handler.
func NewInformerWithOptions(o InformerOptions) (Store, Controller) {
	return informer.ForOneHandler(o)
}

// NewInformer is [NewInformerWithOptions] with the options as arguments.
func NewInformer(lw ListerWatcher, example runtime.Object, resync time.Duration, h ResourceEventHandler) (Store, Controller) {
	return NewInformerWithOptions(InformerOptions{ListerWatcher: lw, ObjectType: example, ResyncPeriod: resync, Handler: h})
}

// NewIndexerInformer is [NewInformer] with indexes.
func NewIndexerInformer(lw ListerWatcher, example runtime.Object, resync time.Duration, h ResourceEventHandler, ix Indexers) (Indexer, Controller) {
	return informer.ForOneHandler(InformerOptions{ListerWatcher: lw, ObjectType: example, ResyncPeriod: resync, Handler: h, Indexers: ix})
}

// NewTransformingInformer is [NewInformerWithOptions] with the options as arguments.
func NewTransformingInformer(lw ListerWatcher, example runtime.Object, resync time.Duration, h ResourceEventHandler, transform TransformFunc) (Store, Controller) {
	return NewInformerWithOptions(InformerOptions{ListerWatcher: lw, ObjectType: example, ResyncPeriod: resync, Handler: h, Transform: transform})
}

// NewTransformingIndexerInformer is [NewIndexerInformer] with a transform.
func NewTransformingIndexerInformer(lw ListerWatcher, example runtime.Object, resync time.Duration, h ResourceEventHandler, ix Indexers, transform TransformFunc) (Indexer, Controller) {
	return informer.ForOneHandler(InformerOptions{ListerWatcher: lw, ObjectType: example, ResyncPeriod: resync, Handler: h, Indexers: ix, Transform: transform})
}
