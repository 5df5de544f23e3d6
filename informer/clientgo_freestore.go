package informer

import (
	"fmt"

	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer/internal/clientgostore"
)

// StoreOptions configure a store without an informer. They replace client-go's StoreOption, whose values only
// client-go's own stores can take.
type StoreOptions struct {
	// Transform, if set, prepares each object put into the store. Unlike in client-go, it also runs in
	// transactions.
	Transform cache.TransformFunc
	// Identifier, if reserved, identifies the metric of the store's resourceVersion. The metric goes to
	// InformerMetricsProvider or, if that is nil, to the provider of [SetInformerMetricsProvider].
	Identifier              cache.InformerNameAndResource
	InformerMetricsProvider cache.InformerMetricsProvider
}

// NewIndexerWithOptions makes a store without an informer. NewStore and NewIndexer in package informer/cache
// call it. The whole string of the key function is the key. The store does not keep or change the map.
func NewIndexerWithOptions(key cache.KeyFunc, ix cache.Indexers, o StoreOptions) cache.Indexer {
	s := clientgostore.NewFree(key, ix)
	s.Gauge.Store(newVersionGauge(o.Identifier, o.InformerMetricsProvider))
	if o.Transform != nil {
		s.Transform = func(obj any) (any, error) {
			result, err := o.Transform(obj)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", ErrTransform, err)
			}
			return result, nil
		}
	}
	return s
}
