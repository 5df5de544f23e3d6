package indexer

import "maps"

// rebuildAbove is the number of changes from which a replacement is built aside
// and swapped in, rather than written in one section that lists wait for.
const rebuildAbove = 4096

// commitAside makes the changes in other contents, and swaps these in.
func (s *Staging) commitAside(gone []*record, v Visitor, show func()) {
	w := s.w
	live := w.x.live.Load()
	defer func() {
		if w.x.live.Load() == live { // a panic: the places in the records are those in the other contents
			w.moveTo(w.successor(live, live.all.len()))
		}
	}()
	next := s.rebuild(gone, v)
	w.whole(func() {
		s.apply(next, v)
		next.shared = false
		w.x.mu.Lock()
		defer w.x.mu.Unlock()

		w.swap(next)
		show()
	})
}

// rebuild makes contents of what is kept, for the changes to be applied to. The
// places in the kept records change, which are the writer's own. The objects in
// them do not, since readers see them until the swap: a record that changes is
// replaced.
func (s *Staging) rebuild(gone []*record, v Visitor) *contents {
	live := s.w.x.live.Load()
	next := s.w.successor(live, live.all.len()+s.pending.len()-len(gone))
	dead := make(map[*record]struct{}, len(gone))
	for _, r := range gone {
		s.w.retain(r)
		dead[r] = struct{}{}
		next.forget(r.view())
		v.deleted(r)
	}
	next.shared = true
	for r := range live.all.records {
		if _, ok := dead[r]; !ok {
			next.adopt(s.w, r)
		}
	}
	return next
}

// swap shows other contents. The snapshots that were taken of those before hold
// on to their objects, and not, by the records, to what became of them. The
// caller holds x.writing and x.mu.
func (w *Writer) swap(next *contents) {
	old := w.x.live.Load()
	w.x.live.Store(next)
	w.letGo()
	old.all.disown()
	for _, ix := range old.indexes {
		for n := range ix.values.all {
			n.value.disown()
		}
	}
}

// letGo clears what is kept of earlier writes: it leads to the contents of before.
func (w *Writer) letGo() {
	clear(w.posts[:cap(w.posts)])
	clear(w.wanted[:cap(w.wanted)])
	clear(w.failures[:cap(w.failures)])
}

// successor returns empty contents with the same indexes.
func (w *Writer) successor(c *contents, size int) *contents {
	indexes := make([]*index, len(c.indexes))
	for i, ix := range c.indexes {
		indexes[i] = ix.empty()
		indexes[i].broken = maps.Clone(ix.broken)
	}
	return newContents(newTable[entry](size), new(vector), indexes)
}

// moveTo moves all that is live into other contents, which are empty, and shows
// these. The caller holds x.writing.
func (w *Writer) moveTo(next *contents) {
	for r := range w.x.live.Load().all.records {
		next.adopt(w, r)
	}
	w.x.mu.Lock()
	defer w.x.mu.Unlock()

	w.swap(next)
}
