package informer

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/records"
	"github.com/tidemark-k8s/tidemark/internal/encoding"
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

// freeStore is a store without an informer. Add, Update and Delete return the failures of index
// functions; others are reported.
type freeStore struct {
	clientgoStore
	transform cache.TransformFunc // may be nil
	failed    func(error)         // is called with the failures that no write returns
}

// newFreeStore makes a store without an informer. An index without a function is left out and
// reported: client-go takes it, and panics with the first object.
func newFreeStore(key cache.KeyFunc, ix cache.Indexers) *freeStore {
	s := &freeStore{
		clientgoStore: clientgoStore{keyFunc: key, parse: indexer.ParseKey, metaKeys: isMetaKey(key)},
		failed:        func(err error) { klog.Background().Error(err, "An index leaves objects out") },
	}
	s.writes = s
	if !s.metaKeys {
		s.parse = func(s string) indexer.Key { return indexer.Key{Name: s} }
	}
	s.writer, _ = indexer.New(indexer.Options{
		Labels: labelsOf[any], Namespace: namespaceOf[any], Codec: encoding.Codec(),
		Report: func(e *indexer.IndexError) { s.failed(e) },
	})
	for _, name := range slices.Sorted(maps.Keys(ix)) {
		if err := s.AddIndexers(cache.Indexers{name: ix[name]}); err != nil {
			s.failed(err)
		}
	}
	return s
}

// check transforms an object.
func (s *freeStore) check(obj any) (any, error) {
	if s.transform == nil {
		return obj, nil
	}
	result, err := s.transform(obj)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTransform, err)
	}
	return result, nil
}

func (s *freeStore) begin() *indexer.Tx { return s.writer.Begin() }

func (s *freeStore) apply(tx *indexer.Tx, w *clientgoWrite) {
	if w.remove {
		tx.Delete(w.key)
	} else {
		tx.Put(0, w.key, w.obj, records.StampByHand)
	}
	s.reach(tx, w.version)
}

func (*freeStore) faults(tx *indexer.Tx) error {
	var all []error
	for _, f := range tx.Faults() {
		all = append(all, f)
	}
	return errors.Join(all...)
}

func (s *freeStore) replace(writes []clientgoWrite, version string) {
	staging := s.writer.StageAll(0)
	for _, w := range writes {
		staging.Put(w.key, w.obj, records.StampByHand)
	}
	staging.Commit(version, indexer.Visitor{})
}
