package indexer

import (
	"fmt"
	"slices"
)

// AddIndexes adds indexes and fills them from the stored objects. It adds all of them or, with an
// error, none. The error is [ErrIndexExists] for a name already in use, and [ErrIndexInvalid] for
// an index without a name or a function. If a function ends the goroutine, AddIndexes adds none.
// Other writers wait, readers do not.
func (w *Writer) AddIndexes(indexes ...Index[any]) error {
	w.x.writing.Lock()
	defer w.finish()

	added := make([]*index, 0, len(indexes))
	taken := make(map[string]bool)
	for _, name := range w.x.Indexes() {
		taken[name] = true
	}
	for _, ix := range indexes {
		switch {
		case !ix.valid():
			return fmt.Errorf("%w: %q", ErrIndexInvalid, ix.Name)
		case taken[ix.Name]:
			return fmt.Errorf("%w: %q", ErrIndexExists, ix.Name)
		}
		taken[ix.Name] = true
		added = append(added, newIndex(ix, named))
	}
	w.addIndexes(added...)
	return nil
}

// addIndexes fills new indexes and then shows them to readers, after the others. The caller holds
// x.writing. Filling needs no other lock: readers do not see the new lists yet, and do not read the
// records' postings meanwhile.
func (w *Writer) addIndexes(added ...*index) {
	old := w.x.live.Load()
	for _, ix := range added {
		w.ordered++
		ix.order = w.ordered
	}
	w.beginMove()
	defer func() {
		if w.x.live.Load() == old { // a function has ended the goroutine: drop the records' new postings
			w.moveTo(w.emptyContents(old.indexes, old.all.len()))
		}
	}()
	for at := range uint32(old.all.len()) { //nolint:gosec // 4 billion objects do not fit in memory
		w.addPostings(old.all.owner(at), added)
	}
	w.x.live.Store(newContents(old.records, old.all, slices.Concat(old.indexes, added)))
}

// addPostings enters a record into the lists of new indexes.
func (w *Writer) addPostings(r *record, added []*index) {
	values := w.indexKeysOf(added, r, r.value.stored())
	postings := w.postings
	for i := range r.value.postingCount() {
		postings = append(postings, r.value.posting(i))
	}
	for _, v := range values {
		postings = append(postings, v.index.add(v.value, r.value.stored(), r))
	}
	w.setPostings(r, postings)
}
