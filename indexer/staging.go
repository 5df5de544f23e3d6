package indexer

// Staging collects a replacement of all objects of one part (a full state of what
// one source has) while it arrives, without a second copy of the store. Nothing of
// it shows until [Staging.Commit]. One goroutine uses it.
//
// To a replacement, each key is in one of five states:
//
//	unseen     stored; the replacement does not hold it (yet)
//	unchanged  stored, and the replacement holds it as it is: the record has its mark
//	replaced   stored, and the replacement holds another version: pending
//	absent     not stored, and the replacement does not hold it (yet)
//	added      not stored, and the replacement holds it: pending
//
// What is called does this to the state, whatever happens to other keys:
//
//	           Keep       Put       Drop    another stores it  another deletes it  Commit
//	unseen     unchanged  replaced  unseen  unseen             absent              deleted
//	unchanged  unchanged  replaced  unseen  replaced           added               stays
//	replaced   unchanged  replaced  unseen  replaced           added               updated
//	absent     (false)    added     absent  unseen             absent              nothing
//	added      (false)    added     absent  replaced           added               added
//
// Another is who writes by hand, another part, and a replacement of the whole
// store: what the replacement had found unchanged is pending from then on, as the
// version that it had found. A part counts the objects of other parts as not stored;
// Commit takes them over.
type Staging struct {
	w       *Writer
	part    uint16
	all     bool   // it replaces the whole store, whatever the parts
	mark    uint32 // of the records that are unchanged
	pending pending
}

// Stage begins a replacement of a part. There is one at a time for each part,
// ended by Commit or Abort.
func (w *Writer) Stage(part uint16) *Staging {
	w.x.writing.Lock()
	defer w.x.writing.Unlock()

	s := w.newStaging(part)
	if w.staged == nil {
		w.staged = make(map[uint32]*Staging)
	}
	w.staged[s.mark] = s
	return s
}

// StageAll begins a replacement of the whole store, whatever the parts: that of a
// user, by hand. What is put belongs to the part that it is of in the store, and to
// the given one if it is new. Nothing is kept.
func (w *Writer) StageAll(part uint16) *Staging {
	w.x.writing.Lock()
	defer w.x.writing.Unlock()

	s := w.newStaging(part)
	s.all = true
	return s
}

func (w *Writer) newStaging(part uint16) *Staging {
	w.mark++
	return &Staging{w: w, part: part, mark: w.mark}
}

// Abort drops the replacement.
func (s *Staging) Abort() {
	s.w.x.writing.Lock()
	defer s.w.x.writing.Unlock()

	s.end()
}

// end takes the staging off the writer's list. The caller holds x.writing.
func (s *Staging) end() {
	delete(s.w.staged, s.mark)
}

// Keep says that the replacement holds the stored object of a key as it is. It
// returns false, and does nothing, if the part has none.
func (s *Staging) Keep(key Key) bool {
	return s.KeepIf(key, func(any, uint64) bool { return true })
}

// KeepIf is Keep where the stored object, with its stamp, is what the replacement
// holds. That is asked in the writer's turn: nobody writes the key meanwhile.
func (s *Staging) KeepIf(key Key, same func(stored any, stamp uint64) bool) bool {
	s.w.x.writing.Lock()
	defer s.w.x.writing.Unlock()

	r := s.stored(key)
	if r == nil || !same(r.value.stored(), r.value.origin.stamp()) {
		return false
	}
	s.pending.remove(key)
	r.number = s.mark
	return true
}

// Put says that the replacement holds this object. The last one of a key counts,
// in the place of the first. It returns what is going to be stored.
func (s *Staging) Put(key Key, obj any, stamp uint64) (stored any) {
	stored = s.w.Encode(obj)
	if s.w.x.decode == nil {
		obj = nil // it is what the record has
	}
	s.put(newRecord(key, stored, originOf(s.part, stamp)), obj)
	return stored
}

// PutStored is [Staging.Put] of what the store has held before.
func (s *Staging) PutStored(key Key, stored any, stamp uint64) {
	s.put(newRecord(key, stored, originOf(s.part, stamp)), nil)
}

// put makes a record pending, of an object that it was encoded from, if that is known.
func (s *Staging) put(r *record, obj any) {
	s.w.x.writing.Lock()
	defer s.w.x.writing.Unlock()

	s.unmark(r.view())
	s.pending.put(r, obj)
}

// Drop says that the replacement does not hold a key, after all.
func (s *Staging) Drop(key Key) {
	s.w.x.writing.Lock()
	defer s.w.x.writing.Unlock()

	s.unmark(key)
	s.pending.remove(key)
}

// unmark makes the stored object of a key unseen. The caller holds x.writing.
func (s *Staging) unmark(key Key) {
	if r := s.stored(key); r != nil {
		r.number = 0
	}
}

// stored returns the record of a key, nil if the part has none. The caller holds
// x.writing.
func (s *Staging) stored(key Key) *record {
	r := s.w.x.live.Load().records.get(key)
	if s.all || r == nil || r.value.origin.part() != s.part {
		return nil
	}
	return r
}

// retain lets replacements under way have the version of a record that they have
// found unchanged: another is about to replace or delete it. The caller holds
// x.writing.
func (w *Writer) retain(r *record) {
	if r.number == 0 || len(w.staged) == 0 {
		return
	}
	e := &r.value
	if s := w.staged[r.number]; s != nil && e.origin.part() == s.part {
		r.number = 0
		s.pending.put(newRecord(r.view(), e.stored(), e.origin), nil)
	}
}

// Visitor is told of the changes that a replacement comes to. It is told of objects as
// they are stored, see [Codec].
type Visitor struct {
	// Outdated tells whether an object that the replacement has put is older than
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

func (v *Visitor) deleted(r *record) {
	if v.Deleted != nil {
		v.Deleted(r.key(), r.value.stored())
	}
}

// Commit makes the store hold, of this part, exactly the replacement, and sets
// the version, unless it is empty. It returns the number of changes. Few changes
// are written in one section; many are built aside, while readers go on, and
// swapped in. Where the visitor panics, the former stay as far as they were made,
// and of the latter there are none. It is whole also where an index function ends
// the goroutine, which then ends after it.
func (s *Staging) Commit(version string, v Visitor) (changes int) {
	w := s.w
	w.x.writing.Lock()
	defer w.finish()

	s.end()
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

// gone returns the records that the replacement does not hold.
func (s *Staging) gone() (gone []*record) {
	for r := range s.w.x.live.Load().all.records {
		if (s.all || r.value.origin.part() == s.part) && r.number != s.mark && !s.pending.has(r.view()) {
			gone = append(gone, r)
		}
	}
	return gone
}

// commitInPlace makes the changes in the live contents.
func (s *Staging) commitInPlace(gone []*record, v Visitor, show func()) {
	w := s.w
	w.x.mu.Lock()
	defer w.x.mu.Unlock()

	live := w.x.live.Load()
	for _, r := range gone {
		w.retain(r)
		live.remove(r.view())
		v.deleted(r)
	}
	w.whole(func() {
		s.apply(live, v)
		show()
	})
}

// apply writes what is pending to contents and visits it. It goes on from where it
// was, if it is called again.
func (s *Staging) apply(c *contents, v Visitor) {
	for ; len(s.pending.order) > 0; s.pending.next() {
		r := s.pending.order[0]
		if r == nil || s.yields(c, r, v) {
			continue
		}
		old, replaced := c.put(s.w, r, s.object(c, r))
		if v.Put != nil {
			v.Put(r.key(), old, r.value.stored(), replaced)
		}
	}
}

// object returns the object of the first pending record, nil where no index of c
// looks at it.
func (s *Staging) object(c *contents, r *record) any {
	switch obj := s.pending.object(); {
	case obj != nil || c.keyed:
		return obj
	default:
		return s.w.x.decode.Object(r.value.stored())
	}
}

// yields tells whether the object that another part has in c stays. A replacement
// of the whole store replaces it, and leaves it to that part.
func (s *Staging) yields(c *contents, r *record, v Visitor) bool {
	if !s.all && v.Outdated == nil {
		return false
	}
	stored := c.records.get(r.view())
	switch {
	case stored == nil || stored.value.origin.part() == s.part:
		return false
	case s.all:
		r.value.origin = originOf(stored.value.origin.part(), r.value.origin.stamp())
		return false
	}
	return v.Outdated(r.key(), stored.value.origin.part(), stored.value.stored(), r.value.stored())
}
