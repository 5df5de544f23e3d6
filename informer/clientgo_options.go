package informer

import (
	"fmt"

	"k8s.io/client-go/tools/cache"
)

// StoreOptions configure a store without an informer. They replace client-go's StoreOption, whose
// values only client-go's own stores can take.
type StoreOptions struct {
	// Transform, if set, prepares each object put for the store; unlike in client-go, in
	// transactions too.
	Transform cache.TransformFunc
	// Identifier, if reserved, is the identifier under which the store publishes its
	// resourceVersion: to InformerMetricsProvider or, if that is nil, to the provider of
	// [SetInformerMetricsProvider].
	Identifier              cache.InformerNameAndResource
	InformerMetricsProvider cache.InformerMetricsProvider
}

// NewIndexerWithOptions makes a store without an informer; NewStore and NewIndexer in package
// informer/cache call it. The key is the whole string returned by the key function. Nobody keeps or
// changes the map.
func NewIndexerWithOptions(key cache.KeyFunc, ix cache.Indexers, o StoreOptions) cache.Indexer {
	s := newFreeStore(key, ix)
	s.transform = o.Transform
	s.gauge.Store(newVersionGauge(o.Identifier, o.InformerMetricsProvider))
	return s
}

// transformed returns the object to store. An informer's store has no transform here, since the
// sink transforms.
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
