package engine

import (
	"slices"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/share"
)

// Recall returns the stored, transformed object of the source if it has this identity. It returns false for
// an object put by hand.
func (s *Sink) Recall(id object.Identity) (any, bool) {
	if _, ok := s.core.writer.Stored(id.Key); !ok {
		return nil, false // without waiting for writers
	}
	stored, known, ok := s.known(id.Key)
	if !ok || known != id {
		return nil, false
	}
	return stored, true
}

// known returns the source's stored object of a key and its identity. It returns false for an object put by
// hand.
func (s *Sink) known(key indexer.Key) (stored any, id object.Identity, ok bool) {
	hidden := false
	s.core.writer.Freeze(func(tx *indexer.Tx) { // outside of write sections, the object and its identity match
		found, _ := tx.Get(key)
		if ok = found.Source == s.source && found.Stamp != object.StampByHand; ok {
			stored = found.Object
			id, hidden = s.core.states[s.source].objects.identity(key, stored)
		}
	})
	if ok && !hidden {
		id = object.IdentityOf(key, stored)
	}
	return stored, id, ok
}

// reuseAtOnce is the number of objects that Reuse looks up at once, while writers wait.
const reuseAtOnce = 64

// Reuse replaces listed objects with stored ones of the same version. With a transform it does nothing,
// because the transform is called for each received object.
func (s *Sink) Reuse(listed []deltafifo.Delta) {
	if s.core.options.Transform != nil {
		return
	}
	for some := range slices.Chunk(listed, reuseAtOnce) {
		var found [reuseAtOnce]any
		s.core.writer.Freeze(func(tx *indexer.Tx) { lookUp(tx, some, &found) })
		reuse(some, &found)
	}
}

// lookUp finds the stored objects of the listed keys, except those put by hand.
func lookUp(tx *indexer.Tx, listed []deltafifo.Delta, found *[reuseAtOnce]any) {
	for i := range listed {
		if stored, _ := tx.Get(listed[i].Key); stored.Stamp != object.StampByHand {
			found[i] = stored.Object
		}
	}
}

// reuse compares the objects after all have been looked up. So the CPU waits for the memory of several
// objects at once, and writers wait for none of that.
func reuse(listed []deltafifo.Delta, found *[reuseAtOnce]any) {
	for i := range listed {
		d := &listed[i]
		if found[i] != nil && d.UID != "" && d.Version != "" && identityOf(d).ShownBy(found[i]) {
			d.Object, d.Recalled = found[i], true
		}
	}
}

// newValues returns the table of the values that an informer's objects share. Packed objects share none.
func newValues(o Options) *share.Table {
	if o.Unshared || o.Storage.packs() {
		return nil
	}
	return share.New(0)
}
