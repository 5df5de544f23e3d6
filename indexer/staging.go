package indexer

import (
	"maps"
	"slices"
)

// rebuildAbove is the number of changes from which a full state is built aside
// and swapped in, rather than written in one section that lists wait for.
const rebuildAbove = 4096

// Staging collects the full state of one part while it arrives, without a
// second copy of the store: what is there already is marked, what is not is
// kept aside. Nothing shows until [Staging.Commit]. One goroutine uses it.
type Staging struct {
	w    *Writer
	part uint16
	all  bool // the full state is that of the whole store
	// What records are marked with that the full state holds: as they are, or
	// as a version that is pending.
	kept, replaced uint32

	// Guarded by the indexer's writing, as the marks are.
	pending []*record   // in the order of arrival; nil where taken back
	index   map[Key]int // of pending, made when first asked for
	// byHand says that objects were stored by hand meanwhile, whose marks do not
	// tell whether a version of them is pending.
	byHand bool
}

// Stage begins a full state of a part. There is one at a time for each part,
// ended by Commit or Abort.
func (w *Writer) Stage(part uint16) *Staging {
	w.x.writing.Lock()
	defer w.x.writing.Unlock()

	w.mark += 2
	s := &Staging{w: w, part: part, kept: w.mark, replaced: w.mark + 1}
	w.staged = append(w.staged, s)
	return s
}

// StageAll begins a full state of the whole store, whatever the parts: what a
// user replaces by hand. What is put belongs to a part as in [Tx.Set].
func (w *Writer) StageAll() *Staging {
	return &Staging{w: w, part: w.x.options.ByHand, all: true}
}

// Abort drops the full state.
func (s *Staging) Abort() {
	s.w.x.writing.Lock()
	defer s.w.x.writing.Unlock()

	s.end()
}

// end takes the staging off the writer's list. The caller holds x.writing.
func (s *Staging) end() {
	s.w.staged = slices.DeleteFunc(s.w.staged, func(other *Staging) bool { return other == s })
}

// Keep says that the stored object of a key belongs to the full state as it
// is, whatever was said of the key before. It returns false, and does nothing, if
// the part has none.
func (s *Staging) Keep(key Key) bool {
	s.w.x.writing.Lock()
	defer s.w.x.writing.Unlock()

	r := s.stored(key)
	if r == nil {
		return false
	}
	if s.byHand || r.value.mark == s.replaced {
		s.takeBack(key)
	}
	r.value.mark = s.kept
	return true
}

// Put adds an object to the full state. Put twice, the later one follows as
// an update of the first.
func (s *Staging) Put(key Key, obj any, stamp uint64) {
	s.w.x.writing.Lock()
	defer s.w.x.writing.Unlock()

	s.put(key, obj, stamp)
}

func (s *Staging) put(key Key, obj any, stamp uint64) {
	s.remark(key, s.replaced)
	if s.index != nil {
		s.point(key, len(s.pending))
	}
	s.pending = append(s.pending, s.record(key, obj, stamp))
}

// record returns a record of the full state.
func (s *Staging) record(key Key, obj any, stamp uint64) *record {
	r := newRecord(key, &obj, stamp, s.part)
	r.value.mark = s.kept
	return r
}

// Drop takes a key out of the full state again.
func (s *Staging) Drop(key Key) {
	s.w.x.writing.Lock()
	defer s.w.x.writing.Unlock()

	s.takeBack(key)
	s.remark(key, 0)
}

// takeBack voids what is pending of a key. The caller holds x.writing.
func (s *Staging) takeBack(key Key) {
	if s.index == nil { // a list never asks; a stream does once there are changes in it
		s.index = make(map[Key]int, len(s.pending))
		for i, r := range s.pending {
			s.point(r.key(), i)
		}
	}
	if i, ok := s.index[key]; ok {
		s.pending[i] = nil
		delete(s.index, key)
	}
}

// remark marks the stored object of a key, if the part has one. The caller
// holds x.writing.
func (s *Staging) remark(key Key, mark uint32) {
	if r := s.stored(key); r != nil {
		r.value.mark = mark
	}
}

// stored returns the record of a key, nil if the part has none.
func (s *Staging) stored(key Key) *record {
	r := s.w.x.live.Load().records.get(key)
	if s.all || r == nil || r.value.part != s.part {
		return nil
	}
	return r
}

// point makes index tell the place of a key in pending, where an earlier one
// is void.
func (s *Staging) point(key Key, i int) {
	if earlier, ok := s.index[key]; ok {
		s.pending[earlier] = nil
	}
	s.index[key] = i
}

// spare makes the full states under way keep an object that they have found
// in the store and that has just been overwritten or deleted by hand. The caller
// holds x.writing.
func (w *Writer) spare(r *record) {
	for _, s := range w.staged {
		if r.value.mark == s.kept && r.value.part == s.part {
			s.put(r.key(), r.value.object(), r.value.stamp)
		}
	}
}

// overwrite lets the full states under way know that objects were stored by
// hand. The caller holds x.writing.
func (w *Writer) overwrite() {
	for _, s := range w.staged {
		s.byHand = true
	}
}

// Visitor is told of the changes that a full state comes to.
type Visitor struct {
	// Outdated tells whether an object that the full state has put is older than
	// the one that another part has under its key, which then stays. It is asked
	// when the change would be made.
	Outdated func(key Key, part uint16, stored, put any) bool
	// Deleted and Put are called once for each change: deletions first, then
	// the others in the order of the list. What they are told of does not show
	// in lists yet. Nil ones are not called.
	Deleted func(key Key, last any)
	Put     func(key Key, old, new any, replaced bool)
	// Commit is called last, in the write section that shows all of it.
	Commit func(tx *Tx)
}

// Commit makes the store hold, of this part, exactly the full state, and sets
// the version, unless it is empty. It returns the number of changes. Few changes
// are written in one section; many are built aside, while readers go on, and
// swapped in. Where the visitor panics, the former stay as far as they were made,
// and of the latter there are none.
func (s *Staging) Commit(version string, v Visitor) (changes int) {
	w := s.w
	w.x.writing.Lock()
	defer w.finish()

	s.end()
	if s.all {
		w.overwrite()
		s.inherit()
	}
	gone := s.unmarked()
	show := func() {
		if version != "" {
			w.setVersion(version)
		}
		if v.Commit != nil {
			v.Commit(&w.tx)
		}
	}
	changes = len(gone) + len(s.pending)
	if changes > rebuildAbove {
		s.commitAside(gone, v, show)
	} else {
		s.commitInPlace(gone, v, show)
	}
	return changes
}

// commitInPlace makes the changes in the live contents.
func (s *Staging) commitInPlace(gone []*record, v Visitor, show func()) {
	w := s.w
	w.x.mu.Lock()
	defer w.x.mu.Unlock()

	live := w.x.live.Load()
	for _, r := range gone {
		live.remove(r.key())
		v.deleted(r)
	}
	w.run(func(*Tx) {
		s.apply(live, v)
		show()
	})
}

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
	w.run(func(*Tx) {
		s.apply(next, v)
		next.shared = false
		w.x.mu.Lock()
		defer w.x.mu.Unlock()

		w.swap(next)
		show()
	})
}

// unmarked returns the records of the part that the full state does not hold.
func (s *Staging) unmarked() (gone []*record) {
	if s.all {
		return s.unlisted()
	}
	for r := range s.w.x.live.Load().all.records {
		if r.value.part == s.part && r.value.mark != s.kept && r.value.mark != s.replaced {
			gone = append(gone, r)
		}
	}
	return gone
}

// unlisted returns the records that a full state of the whole store does not
// hold. What the full states under way have found in the store is theirs still.
func (s *Staging) unlisted() (gone []*record) {
	listed := make(map[Key]struct{}, len(s.pending))
	for _, r := range s.pending {
		if r != nil { // not taken back
			listed[r.key()] = struct{}{}
		}
	}
	for r := range s.w.x.live.Load().all.records {
		s.w.spare(r)
		if _, ok := listed[r.key()]; !ok {
			gone = append(gone, r)
		}
	}
	return gone
}

// inherit makes what is put belong to the part that its key belongs to. The
// caller holds x.writing.
func (s *Staging) inherit() {
	for _, r := range s.pending {
		if r == nil { // taken back
			continue
		}
		if stored := s.w.x.live.Load().records.get(r.key()); stored != nil {
			r.value.part = stored.value.part
		}
	}
}

// outdated tells whether another part of c has what is newer than r.
func (s *Staging) outdated(c *contents, r *record, v Visitor) bool {
	if v.Outdated == nil {
		return false
	}
	stored := c.records.get(r.key())
	return stored != nil && stored.value.part != s.part &&
		v.Outdated(r.key(), stored.value.part, stored.value.object(), r.value.object())
}

// apply writes what is pending to contents and visits it. It goes on from where it
// was, if it is called again.
func (s *Staging) apply(c *contents, v Visitor) {
	for ; len(s.pending) > 0; s.pending = s.pending[1:] {
		r := s.pending[0]
		if r == nil || s.outdated(c, r, v) {
			continue
		}
		old, replaced := c.put(s.w, r)
		if v.Put != nil {
			v.Put(r.key(), old, r.value.object(), replaced)
		}
	}
}

func (v *Visitor) deleted(r *record) {
	if v.Deleted != nil {
		v.Deleted(r.key(), r.value.object())
	}
}

// rebuild makes contents of what is kept, for the changes to be applied to. The
// places in the kept records change, which are the writer's own. The objects in
// them do not, since readers see them until the swap: a record that changes is
// replaced.
func (s *Staging) rebuild(gone []*record, v Visitor) *contents {
	live := s.w.x.live.Load()
	next := s.w.successor(live, live.all.len()+len(s.pending)-len(gone))
	dead := make(map[*record]struct{}, len(gone))
	for _, r := range gone {
		dead[r] = struct{}{}
		next.forget(r.key())
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
	old.all.disown()
	for _, ix := range old.indexes {
		for n := range ix.values.all {
			n.value.disown()
		}
	}
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
