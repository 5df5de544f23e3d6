package indexer

import "maps"

// rebuildAbove is the number of changes above which a replacement is built aside and swapped in. Up
// to this number, a single write section makes the changes, and lists wait for it.
const rebuildAbove = 4096

// commitAside makes the changes in new contents, and swaps these in.
func (s *Staging) commitAside(gone []*record, v Visitor, show func()) {
	w := s.w
	live := w.x.live.Load()
	next := w.emptyContents(live.indexes, live.all.len()+s.pending.len()-len(gone))
	values := s.callIndexes(next)
	defer func() {
		if w.x.live.Load() == live { // the visitor has not returned: the records' positions refer to the abandoned contents
			w.moveTo(w.emptyContents(live.indexes, live.all.len()))
		}
	}()
	s.rebuild(next, gone, v)
	s.apply(next, values, v)
	next.shared = false
	s.countAside(live, next, gone)
	w.x.mu.Lock()
	defer w.x.mu.Unlock()

	w.swap(next)
	show()
}

// countAside counts the changes from the live contents to the next ones, just before the swap.
func (s *Staging) countAside(live, next *contents, gone []*record) {
	if s.w.x.options.Codec == nil {
		return
	}
	for _, r := range gone {
		s.w.count(nil, r.value.stored())
	}
	for _, r := range s.pending.order {
		if r == nil || next.records.get(r.view()) != r { // outdated
			continue
		}
		var old any
		if before := live.records.get(r.view()); before != nil {
			old = before.value.stored()
		}
		s.w.count(r.value.stored(), old)
	}
}

// beginMove announces that the writer will change the records' postings of the live contents until
// it swaps in others. The caller holds x.writing.
func (w *Writer) beginMove() {
	w.x.mu.Lock()
	defer w.x.mu.Unlock()

	w.x.live.Load().moving = true
}

// rebuild moves the kept records into new contents, for apply to change. It changes the positions
// in these records, which only the writer still reads. It does not change their objects, which
// readers see until the swap: apply replaces a record that changes.
func (s *Staging) rebuild(next *contents, gone []*record, v Visitor) {
	dead := make(map[*record]struct{}, len(gone))
	for _, r := range gone {
		dead[r] = struct{}{}
		next.forget(r.view())
		v.deleted(r)
	}
	next.shared = true
	s.w.beginMove()
	for r := range s.w.x.live.Load().all.records {
		if _, ok := dead[r]; !ok {
			next.move(s.w, r)
		}
	}
}

// swap shows new contents to readers. It detaches the old lists from their records. A snapshot of
// an old list then keeps its objects in memory, but not the records, which refer to the new
// contents. The caller holds x.writing and x.mu.
func (w *Writer) swap(next *contents) {
	old := w.x.live.Load()
	w.x.live.Store(next)
	old.all.disown()
	for _, ix := range old.indexes {
		for n := range ix.values.all {
			n.value.disown()
		}
	}
}

// emptyContents returns contents without objects, with indexes like those given.
func (w *Writer) emptyContents(like []*index, size int) *contents {
	indexes := make([]*index, len(like))
	for i, ix := range like {
		indexes[i] = ix.empty()
		indexes[i].unindexed = maps.Clone(ix.unindexed)
	}
	return newContents(newTable[entry](size), new(vector), indexes)
}

// moveTo moves all live records into new, empty contents and shows these to readers. The caller
// holds x.writing.
func (w *Writer) moveTo(next *contents) {
	w.beginMove()
	for r := range w.x.live.Load().all.records {
		next.move(w, r)
	}
	w.x.mu.Lock()
	defer w.x.mu.Unlock()

	w.swap(next)
}
