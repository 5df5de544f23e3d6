package cache

import (
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
)

// StoreOption configures a store of this module. client-go's options work only with client-go's stores.
type StoreOption func(*informer.StoreOptions)

// WithTransformer makes a store keep the results of the transform instead of the objects.
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

// NewUndeltaStore returns client-go's UndeltaStore with a store of this module. After each change, the
// UndeltaStore passes its whole content to push.
func NewUndeltaStore(push func([]any), key KeyFunc) *UndeltaStore {
	return &cache.UndeltaStore{Store: NewStore(key), PushFunc: push}
}
