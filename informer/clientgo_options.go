package informer

import (
	"fmt"

	"k8s.io/client-go/tools/cache"
)

// StoreOptions configure a store that belongs to no informer. They stand for
// client-go's StoreOption, whose values only client-go's own stores can take.
type StoreOptions struct {
	// Transform, if set, makes of each object that is put in what is stored;
	// unlike in client-go in transactions too.
	Transform cache.TransformFunc
	// Identifier, if it is reserved, is what the store publishes its
	// resourceVersion under: to InformerMetricsProvider or, where that is nil,
	// to what [SetInformerMetricsProvider] was given.
	Identifier              cache.InformerNameAndResource
	InformerMetricsProvider cache.InformerMetricsProvider
}

// NewIndexerWithOptions makes a store that belongs to no informer, of which
// NewStore and NewIndexer in package informer/cache are made. The whole string
// that key returns is the key. Nobody keeps or changes the map.
func NewIndexerWithOptions(key cache.KeyFunc, ix cache.Indexers, o StoreOptions) cache.Indexer {
	s := newFreeStore(key, ix)
	s.transform = o.Transform
	s.gauge.Store(newVersionGauge(o.Identifier, o.InformerMetricsProvider))
	return s
}

// transformed makes of an object what is stored. Informers transform before,
// and have no transform here.
func (s *clientgoStore) transformed(obj any) (any, error) {
	if s.transform != nil {
		result, err := s.transform(obj)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrTransform, err)
		}
		obj = result
	}
	return obj, s.objects.validate(obj)
}
