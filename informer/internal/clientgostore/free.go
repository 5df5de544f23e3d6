package clientgostore

import (
	"errors"
	"maps"
	"slices"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// Free is a store without an informer. Add, Update and Delete return errors of index functions. Other writes
// report them.
type Free struct {
	Store
	Transform func(any) (any, error) // may be nil
	Failed    func(error)            // called with errors that no write returns
}

// NewFree makes a store without an informer. It leaves out an index without a function, and reports it.
// client-go accepts such an index, and panics with the first object.
func NewFree(key cache.KeyFunc, ix cache.Indexers) *Free {
	s := &Free{
		Store:  Store{keyFunc: key, parse: indexer.ParseKey, metaKeys: isMetaKey(key)},
		Failed: func(err error) { klog.Background().Error(err, "Object left out of an index") },
	}
	s.writes = s
	if !s.metaKeys {
		s.parse = func(s string) indexer.Key { return indexer.Key{Name: s} }
	}
	s.writer, _ = indexer.New(indexer.Options{
		Labels: object.Labels, Namespace: object.Namespace,
		Report: func(e *indexer.IndexError) { s.Failed(e) },
	})
	for _, name := range slices.Sorted(maps.Keys(ix)) {
		if err := s.AddIndexers(cache.Indexers{name: ix[name]}); err != nil {
			s.Failed(err)
		}
	}
	return s
}

// Check returns the stored form of an object.
func (s *Free) Check(obj any) (any, error) {
	if s.Transform == nil {
		return obj, nil
	}
	return s.Transform(obj)
}

// Begin begins a write section.
func (s *Free) Begin() *indexer.Tx { return s.writer.Begin() }

// Apply makes one write.
func (s *Free) Apply(tx *indexer.Tx, w Write) {
	if w.Remove {
		tx.Delete(w.Key)
	} else {
		tx.Put(0, w.Key, w.Object, object.StampByHand)
	}
	s.Reach(tx, w.Version)
}

// Version returns the version of the newest write.
func (s *Free) Version() string { return s.writer.Indexer().Version() }

// Reach moves the version forward.
func (s *Free) Reach(tx *indexer.Tx, version string) {
	tx.SetVersion(object.Advance(s.Version(), version))
}

// Faults returns the errors of index functions in a section.
func (*Free) Faults(tx *indexer.Tx) error {
	var all []error
	for _, f := range tx.Faults() {
		all = append(all, f)
	}
	return errors.Join(all...)
}

// ReplaceAll makes the store hold exactly the objects of the writes.
func (s *Free) ReplaceAll(writes []Write, version string) {
	staging := s.writer.StageAll()
	for _, w := range writes {
		staging.Put(w.Key, w.Object, object.StampByHand)
	}
	staging.Commit(version, indexer.Visitor{})
}
