package cache

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tidemark-k8s/tidemark/informer"
)

// The constructors of informers are this module's.
var (
	NewSharedInformer                 = informer.NewSharedInformer
	NewSharedIndexInformer            = informer.NewSharedIndexInformer
	NewSharedIndexInformerWithOptions = informer.NewSharedIndexInformerWithOptions
	NewInformerWithOptions            = informer.NewInformerWithOptions
	NewInformer                       = informer.NewInformer
	NewIndexerInformer                = informer.NewIndexerInformer
	SetInformerMetricsProvider        = informer.SetInformerMetricsProvider
)

// NewTransformingInformer is [NewInformerWithOptions] with the options in its arguments.
func NewTransformingInformer(lw ListerWatcher, example runtime.Object, resync time.Duration, h ResourceEventHandler, transform TransformFunc) (Store, Controller) {
	return NewInformerWithOptions(InformerOptions{ListerWatcher: lw, ObjectType: example, ResyncPeriod: resync, Handler: h, Transform: transform})
}

// NewTransformingIndexerInformer is [NewIndexerInformer] with a transform.
func NewTransformingIndexerInformer(lw ListerWatcher, example runtime.Object, resync time.Duration, h ResourceEventHandler, ix Indexers, transform TransformFunc) (Indexer, Controller) {
	store, controller := NewInformerWithOptions(InformerOptions{ListerWatcher: lw, ObjectType: example, ResyncPeriod: resync, Handler: h, Indexers: ix, Transform: transform})
	indexer, _ := store.(Indexer) // every store of this module is an Indexer
	return indexer, controller
}
