package cache

import (
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
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

// NewUndeltaStore returns client-go's store of that name, which hands its
// whole content on with each change, over a store of this module.
func NewUndeltaStore(push func([]any), key KeyFunc) *UndeltaStore {
	return &cache.UndeltaStore{Store: NewStore(key), PushFunc: push}
}
