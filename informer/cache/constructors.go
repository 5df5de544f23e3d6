package cache

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// The constructors of informers are this module's.
var (
	NewSharedInformer                 = informer.NewSharedInformer
	NewSharedIndexInformer            = informer.NewSharedIndexInformer
	NewSharedIndexInformerWithOptions = informer.NewSharedIndexInformerWithOptions
	NewInformerWithOptions            = informer.NewInformerWithOptions
	NewInformer                       = informer.NewInformer
	NewIndexerInformer                = informer.NewIndexerInformer
	New                               = informer.NewController
	SetInformerMetricsProvider        = informer.SetInformerMetricsProvider
)

// StoreOption configures a store of this module; client-go's options fit its
// own stores only.
type StoreOption func(*informer.StoreOptions)

// WithTransformer makes a store keep what the transform returns.
func WithTransformer(transform TransformFunc) StoreOption {
	return func(o *informer.StoreOptions) { o.Transform = transform }
}

// WithStoreMetrics makes a store publish its resourceVersion.
func WithStoreMetrics(id InformerNameAndResource, provider InformerMetricsProvider) StoreOption {
	return func(o *informer.StoreOptions) { o.Identifier, o.InformerMetricsProvider = id, provider }
}

// NewStore returns a store of this module.
func NewStore(key KeyFunc, options ...StoreOption) Store { return NewIndexer(key, nil, options...) }

// NewIndexer returns a store of this module with indexes.
func NewIndexer(key KeyFunc, ix Indexers, options ...StoreOption) Indexer {
	var o informer.StoreOptions
	for _, option := range options {
		option(&o)
	}
	return informer.NewIndexerWithOptions(key, ix, o)
}

// DeltaFIFO is this module's queue of that name, with client-go's methods.
type DeltaFIFO = informer.DeltaFIFO

// NewDeltaFIFOWithOptions is this module's.
func NewDeltaFIFOWithOptions(o DeltaFIFOOptions) *DeltaFIFO {
	f, _ := informer.NewDeltaFIFO(o).(*DeltaFIFO) // as it says
	return f
}

// NewDeltaFIFO is [NewDeltaFIFOWithOptions] with the two options that it had
// first. Replace queues Sync deltas then.
func NewDeltaFIFO(key KeyFunc, known KeyListerGetter) *DeltaFIFO {
	return NewDeltaFIFOWithOptions(DeltaFIFOOptions{KeyFunction: key, KnownObjects: known})
}

// NewTransformingInformer is [NewInformerWithOptions] with the options that it
// names.
func NewTransformingInformer(lw ListerWatcher, example runtime.Object, resync time.Duration, h ResourceEventHandler, transform TransformFunc) (Store, Controller) {
	return NewInformerWithOptions(InformerOptions{ListerWatcher: lw, ObjectType: example, ResyncPeriod: resync, Handler: h, Transform: transform})
}

// NewTransformingIndexerInformer is [NewIndexerInformer] with a transform.
func NewTransformingIndexerInformer(lw ListerWatcher, example runtime.Object, resync time.Duration, h ResourceEventHandler, ix Indexers, transform TransformFunc) (Indexer, Controller) {
	store, controller := NewInformerWithOptions(InformerOptions{ListerWatcher: lw, ObjectType: example, ResyncPeriod: resync, Handler: h, Indexers: ix, Transform: transform})
	indexer, _ := store.(Indexer) // each of them is one
	return indexer, controller
}

// The constructors of reflectors return this module's reflector, whose Run
// takes a context. The type [Reflector] stays client-go's, since that is what
// watch error handlers are given.
var (
	NewReflector            = informer.NewReflector
	NewReflectorWithOptions = informer.NewReflectorWithOptions
)

// NewNamedReflector is [NewReflector] with a name for messages.
func NewNamedReflector(name string, lw ListerWatcher, expectedType any, store ReflectorStore, resync time.Duration) *reflector.Reflector {
	return NewReflectorWithOptions(lw, expectedType, store, ReflectorOptions{Name: name, ResyncPeriod: resync})
}

// NewNamespaceKeyedIndexerAndReflector returns an indexer with an index by
// namespace, and the reflector that fills it.
func NewNamespaceKeyedIndexerAndReflector(lw ListerWatcher, expectedType any, resync time.Duration) (Indexer, *reflector.Reflector) {
	x := NewIndexer(MetaNamespaceKeyFunc, Indexers{NamespaceIndex: MetaNamespaceIndexFunc})
	return x, NewReflector(lw, expectedType, x, resync)
}

// NewUndeltaStore returns client-go's store of that name, which hands its
// whole content on with each change, over a store of this module.
func NewUndeltaStore(push func([]any), key KeyFunc) *UndeltaStore {
	return &cache.UndeltaStore{Store: NewStore(key), PushFunc: push}
}
