package informer

import (
	"fmt"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/clientgostore"
	"github.com/tidemark-k8s/tidemark/informer/internal/engine"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// informerStore is an informer's store as client-go's, which a program may write to by hand. Such writes skip
// the transform, and cause no events. The informer's writer reports failures of index functions.
type informerStore struct {
	*clientgostore.Store
	core *engine.Core
	// version is the newest version written by hand. It counts until the informer has one.
	version atomic.Pointer[string]
}

func newInformerStore(c *engine.Core) *informerStore {
	s := &informerStore{core: c}
	s.version.Store(new(string))
	s.Store = clientgostore.New(c.Writer(), s)
	return s
}

// Check returns an error for an object that is not of the informer's type.
func (s *informerStore) Check(obj any) (any, error) { return obj, s.core.Objects().Validate(obj) }

// Begin begins a write section.
func (s *informerStore) Begin() *indexer.Tx { return s.core.Writer().Begin() }

// Apply makes one write. A stored key stays in its source.
func (s *informerStore) Apply(tx *indexer.Tx, w clientgostore.Write) {
	if w.Remove {
		tx.Delete(w.Key)
	} else {
		stored, _ := tx.Get(w.Key)
		tx.Put(stored.Source, w.Key, w.Object, object.StampByHand)
	}
	s.Reach(tx, w.Version)
}

// Version returns the informer's version, or the version written by hand if the informer has none yet.
func (s *informerStore) Version() string {
	if version := s.core.Writer().Indexer().Version(); version != "" {
		return version
	}
	return *s.version.Load()
}

// Reach records a version that was written by hand.
func (s *informerStore) Reach(_ *indexer.Tx, version string) {
	next := object.Advance(*s.version.Load(), version)
	s.version.Store(&next)
}

// Faults returns nil, because the writer reports failures of index functions.
func (*informerStore) Faults(*indexer.Tx) error { return nil }

// ReplaceAll replaces all objects of the store.
func (s *informerStore) ReplaceAll(writes []clientgostore.Write, version string) {
	staging := s.core.Writer().StageAll()
	for _, w := range writes {
		staging.Put(w.Key, w.Object, object.StampByHand)
	}
	staging.Commit("", indexer.Visitor{Commit: func(tx *indexer.Tx) { s.Reach(tx, version) }})
}

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
