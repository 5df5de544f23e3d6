package informer

import (
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/clientgostore"
	"github.com/tidemark-k8s/tidemark/informer/internal/records"
)

// informerStore is the store of an informer, to which a user may write by hand. The writes skip the
// transform, and cause no events. The informer's writer reports the failures of index functions.
type informerStore struct {
	*clientgostore.Store
	core *core
}

func newInformerStore(c *core) *informerStore {
	s := &informerStore{core: c}
	s.Store = clientgostore.New(c.writer, s)
	return s
}

// Check returns an error for an object of another type than the informer's.
func (s *informerStore) Check(obj any) (any, error) { return obj, s.core.objects.validate(obj) }

// Begin begins a write section.
func (s *informerStore) Begin() *indexer.Tx { return s.core.writer.Begin() }

// Apply makes one write.
func (s *informerStore) Apply(tx *indexer.Tx, w clientgostore.Write) {
	removals := &s.core.removals
	if w.Remove {
		source, _ := tx.Source(w.Key)
		if last, deleted := tx.Delete(w.Key); deleted {
			removals.Add(w.Key, source, last)
		}
	} else {
		tx.Put(s.sourceOf(tx, w.Key), w.Key, w.Object, records.StampByHand)
		removals.Take(w.Key)
	}
	s.Reach(tx, w.Version)
}

// sourceOf returns the source of an object put under a key: a stored key stays in its source.
func (s *informerStore) sourceOf(tx *indexer.Tx, key indexer.Key) uint16 {
	if len(s.core.states) > 1 {
		if source, stored := tx.Source(key); stored {
			return source
		}
	}
	return s.core.sourceByHand()
}

// Reach moves the store's version on until the informer does.
func (s *informerStore) Reach(tx *indexer.Tx, version string) {
	if !s.core.isSynced() {
		s.Store.Reach(tx, version)
	}
}

// Faults returns nothing: failures of index functions are reported.
func (*informerStore) Faults(*indexer.Tx) error { return nil }

// ReplaceAll makes the store hold the objects of the writes, and no others.
func (s *informerStore) ReplaceAll(writes []clientgostore.Write, version string) {
	c := s.core
	staging := c.writer.StageAll(c.sourceByHand())
	for _, w := range writes {
		staging.Put(w.Key, w.Object, records.StampByHand)
	}
	if c.isSynced() {
		version = ""
	}
	staging.Commit(version, indexer.Visitor{
		Deleted: func(key indexer.Key, last any) { c.removals.Add(key, c.sourceByHand(), last) },
		Put:     func(key indexer.Key, _, _ any, _ bool) { c.removals.Take(key) },
	})
}
