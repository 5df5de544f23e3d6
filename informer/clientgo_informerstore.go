package informer

import (
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/records"
)

// informerStore is the store of an informer, to which a user may write by hand. The writes skip the
// transform, and cause no events. The informer's writer reports the failures of index functions.
type informerStore struct {
	clientgoStore
	core *core
}

func newInformerStore(c *core) *informerStore {
	s := &informerStore{
		clientgoStore: clientgoStore{
			writer: c.writer, keyFunc: cache.DeletionHandlingMetaNamespaceKeyFunc, parse: indexer.ParseKey, metaKeys: true,
		},
		core: c,
	}
	s.writes = s
	return s
}

// check returns an error for an object of another type than the informer's.
func (s *informerStore) check(obj any) (any, error) { return obj, s.core.objects.validate(obj) }

func (s *informerStore) begin() *indexer.Tx {
	s.core.writtenByHand.Store(true)
	return s.writer.Begin()
}

func (s *informerStore) apply(tx *indexer.Tx, w *clientgoWrite) {
	removals := &s.core.removals
	if w.remove {
		part, _ := tx.Part(w.key)
		if last, deleted := tx.Delete(w.key); deleted {
			removals.Add(w.key, part, last)
		}
	} else {
		tx.Put(s.partOf(tx, w.key), w.key, w.obj, records.StampByHand)
		removals.Take(w.key)
	}
	s.reach(tx, w.version)
}

// partOf returns the part of an object put under a key: a stored key stays in its part.
func (s *informerStore) partOf(tx *indexer.Tx, key indexer.Key) uint16 {
	if len(s.core.parts) > 1 {
		if part, stored := tx.Part(key); stored {
			return part
		}
	}
	return s.core.partByHand()
}

// reach moves the store's version on until the informer does.
func (s *informerStore) reach(tx *indexer.Tx, version string) {
	if !s.core.isSynced() {
		s.clientgoStore.reach(tx, version)
	}
}

func (*informerStore) faults(*indexer.Tx) error { return nil }

func (s *informerStore) replace(writes []clientgoWrite, version string) {
	c := s.core
	c.writtenByHand.Store(true)
	staging := s.writer.StageAll(c.partByHand())
	for _, w := range writes {
		staging.Put(w.key, w.obj, records.StampByHand)
	}
	if c.isSynced() {
		version = ""
	}
	staging.Commit(version, indexer.Visitor{
		Deleted: func(key indexer.Key, last any) { c.removals.Add(key, c.partByHand(), last) },
		Put:     func(key indexer.Key, _, _ any, _ bool) { c.removals.Take(key) },
	})
}
