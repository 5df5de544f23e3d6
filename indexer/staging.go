package indexer

import "slices"

// Staging collects a replacement of all objects of a source (its full state) while it arrives,
// without a second copy of the store. It is for authors of their own stores. Readers see nothing of
// the replacement until [Staging.Commit]. Only one goroutine may use it.
//
// For a replacement, each key is in one of five states:
//
//	unseen     stored; the replacement does not hold it (yet)
//	unchanged  stored, and the replacement holds the same version: the record has its mark
//	replaced   stored, and the replacement holds another version: pending
//	absent     not stored, and the replacement does not hold it (yet)
//	added      not stored, and the replacement holds it: pending
//
// A call changes only the state of its key, and does not depend on other keys:
//
//	           Keep       Put       Drop    Commit
//	unseen     unchanged  replaced  unseen  deleted
//	unchanged  unchanged  replaced  unseen  stays
//	replaced   unchanged  replaced  unseen  updated
//	absent     (false)    added     absent  nothing
//	added      (false)    added     absent  added
//
// Other writes may happen meanwhile. An unchanged object then stays in the version that they have
// written, or is absent if they have deleted it. A source counts the objects of other sources as
// not stored. Commit takes them over.
type Staging struct {
	w       *Writer
	source  uint16
	all     bool   // replaces the objects of all sources
	mark    uint32 // in the records that are unchanged
	pending pending
}

// Stage begins a replacement of a source. Each source has at most one at a time. A replacement that
// is not committed changes nothing.
func (w *Writer) Stage(source uint16) *Staging {
	w.x.writing.Lock()
	defer w.x.writing.Unlock()

	w.mark++
	return &Staging{w: w, source: source, mark: w.mark}
}

// StageAll begins a replacement of the objects of all sources. A new object belongs to the source
// of its key's stored object, or to the first source if the key is new. Keep always returns false.
func (w *Writer) StageAll() *Staging {
	s := w.Stage(0)
	s.all = true
	return s
}

// Keep records that the replacement has the stored object of a key unchanged, if same is nil or
// returns true for the object and its stamp. Otherwise, or if the source has no object of this key,
// it does nothing and returns false. Keep calls same with the writer's lock held, so the key does
// not change meanwhile.
func (s *Staging) Keep(key Key, same func(stored any, stamp uint64) bool) bool {
	s.w.x.writing.Lock()
	defer s.w.x.writing.Unlock()

	r := s.stored(key)
	if r == nil || same != nil && !same(r.value.stored(), r.value.origin.stamp()) {
		return false
	}
	s.pending.remove(key)
	r.mark = s.mark
	return true
}

// Put adds an object to the replacement. If a key is put again, the last object counts, at the
// position of the first. The object may be in its stored form, which Put returns.
func (s *Staging) Put(key Key, obj any, stamp uint64) (stored any) {
	stored = s.w.Encode(obj)
	r := newRecord(key, stored, originOf(s.source, stamp))
	s.w.x.writing.Lock()
	defer s.w.x.writing.Unlock()

	s.unmark(key)
	s.pending.put(r)
	return stored
}

// Staged returns the object of a key in the replacement, in its stored form, and its stamp.
func (s *Staging) Staged(key Key) (stored any, stamp uint64, ok bool) {
	s.w.x.writing.Lock()
	defer s.w.x.writing.Unlock()

	r := s.pending.get(key)
	if kept := s.stored(key); r == nil && kept != nil && kept.mark == s.mark {
		r = kept
	}
	if r == nil {
		return nil, 0, false
	}
	return r.value.stored(), r.value.origin.stamp(), true
}

// Drop removes a key from the replacement.
func (s *Staging) Drop(key Key) {
	s.w.x.writing.Lock()
	defer s.w.x.writing.Unlock()

	s.unmark(key)
	s.pending.remove(key)
}

// unmark makes the stored object of a key unseen. The caller holds x.writing.
func (s *Staging) unmark(key Key) {
	if r := s.stored(key); r != nil {
		r.mark = 0
	}
}

// stored returns the record of a key, or nil if the source has none. The caller holds x.writing.
func (s *Staging) stored(key Key) *record {
	r := s.w.x.live.Load().records.get(key)
	if s.all || r == nil || r.value.origin.source() != s.source {
		return nil
	}
	return r
}

// Visitor is called for each change that Commit makes. It gets objects in their stored form,
// see [Codec].
type Visitor struct {
	// Outdated reports whether an object of the replacement is older than another source's object
	// of the same key, which then stays. Commit calls it just before it would make the change.
	Outdated func(key Key, stored Stored, put any) bool
	// Commit calls Deleted or Put once for each change: first all deletions, then the others in the
	// order of the list. Lists do not show the changes yet. Both may be nil.
	Deleted func(key Key, last any)
	Put     func(key Key, old, new any, replaced bool)
	// Staging.Commit calls Commit last, in the write section that shows all changes.
	Commit func(tx *Tx)
}

func (v *Visitor) deleted(r *record) {
	if v.Deleted != nil {
		v.Deleted(r.key(), r.value.stored())
	}
}

// Commit replaces all objects of the source with those of the replacement, and sets the version,
// unless it is empty. It returns the number of changes. It first calls the index functions of all
// objects. If one ends the goroutine, nothing changes. Commit writes a few changes in one section.
// It builds many changes aside, while readers continue, and swaps them in. If the visitor does not
// return, changes made in one section stay as far as they got, and changes built aside are dropped.
func (s *Staging) Commit(version string, v Visitor) (changes int) {
	w := s.w
	w.x.writing.Lock()
	defer w.finish()

	gone := s.gone()
	show := func() {
		if version != "" {
			w.setVersion(version)
		}
		if v.Commit != nil {
			v.Commit(&w.tx)
		}
	}
	changes = len(gone) + s.pending.len()
	if changes > rebuildAbove {
		s.commitAside(gone, v, show)
	} else {
		s.commitInPlace(gone, v, show)
	}
	return changes
}

// gone returns the records that are stored and missing from the replacement.
func (s *Staging) gone() (gone []*record) {
	for r := range s.w.x.live.Load().all.records {
		if (s.all || r.value.origin.source() == s.source) && r.mark != s.mark && !s.pending.has(r.view()) {
			gone = append(gone, r)
		}
	}
	return gone
}

// commitInPlace makes the changes in the live contents.
func (s *Staging) commitInPlace(gone []*record, v Visitor, show func()) {
	w := s.w
	live := w.x.live.Load()
	values := s.callIndexes(live)
	w.x.mu.Lock()
	defer w.x.mu.Unlock()

	for _, r := range gone {
		live.remove(r)
		w.count(nil, r.value.stored())
		v.deleted(r)
	}
	s.apply(live, values, v)
	show()
}

// pendingValues are the index values of the pending objects, and the index functions that failed.
// They are empty if every index is by key.
type pendingValues struct {
	keys   []indexKey
	ends   []int                 // of the values of each place in pending.order
	failed map[*record][]failure // of the records with failures
}

// callIndexes calls the index functions of contents on all pending objects. It runs before any
// write, because an index function may end the goroutine.
func (s *Staging) callIndexes(c *contents) (all pendingValues) {
	if c.keyed {
		return all
	}
	all.ends = make([]int, 0, len(s.pending.order))
	for _, r := range s.pending.order {
		if r != nil {
			keys, failures := s.w.callIndexes(c.indexes, r, r.value.stored())
			all.keys = append(all.keys, keys...)
			all.note(r, failures)
		}
		all.ends = append(all.ends, len(all.keys))
	}
	return all
}

func (all *pendingValues) note(r *record, failures []failure) {
	if len(failures) == 0 {
		return
	}
	if all.failed == nil {
		all.failed = make(map[*record][]failure)
	}
	all.failed[r] = slices.Clone(failures)
}

// at returns the index values of a place in pending.order.
func (all *pendingValues) at(i int) []indexKey {
	from := 0
	if i > 0 {
		from = all.ends[i-1]
	}
	return all.keys[from:all.ends[i]]
}

// apply writes the pending records to contents and calls the visitor for each.
func (s *Staging) apply(c *contents, all pendingValues, v Visitor) {
	for i, r := range s.pending.order {
		if r == nil || s.outdated(c, r, v) {
			continue
		}
		var values []indexKey
		if c.keyed {
			values = s.w.indexKeysOf(c.indexes, r, nil)
		} else {
			values = all.at(i)
			s.w.noteFailures(c.indexes, r, all.failed[r])
		}
		old, replaced := c.put(s.w, r, values)
		if v.Put != nil {
			v.Put(r.key(), old, r.value.stored(), replaced)
		}
	}
}

// outdated reports whether the pending record is dropped because another source's object is newer.
// A replacement of the whole store always replaces the object, and leaves it in the other source.
func (s *Staging) outdated(c *contents, r *record, v Visitor) bool {
	if !s.all && v.Outdated == nil {
		return false
	}
	stored := c.records.get(r.view())
	switch {
	case stored == nil || stored.value.origin.source() == s.source:
		return false
	case s.all:
		r.value.origin = originOf(stored.value.origin.source(), r.value.origin.stamp())
		return false
	}
	return v.Outdated(r.key(), stored.value.asStored(), r.value.stored())
}
