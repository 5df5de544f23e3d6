package indexer

import "slices"

// contents is everything that readers see: the objects by key, the list of all objects, and the
// indexes. After readers see the struct, the writer changes only its field moving. The writer writes
// the tables and lists under the indexer's locks. To add an index, or to replace more than a few
// objects, it makes new contents and swaps them in.
type contents struct {
	records *table[entry]
	all     *vector
	indexes []*index
	// keyed is true if every index is by key. Updates of an object then never change its index
	// values.
	keyed bool
	// shared is true while the writer builds new contents from records that readers still see in
	// the old ones. The writer then replaces a changed record instead of writing to it.
	shared bool
	// moving is set under mu before the writer, without mu, changes the records' postings to those
	// of contents that it will swap in. From then on only the writer may read the postings.
	moving bool
}

func newContents(records *table[entry], all *vector, indexes []*index) *contents {
	return &contents{records: records, all: all, indexes: indexes, keyed: keyed(indexes)}
}

// keyed reports whether every index takes its values from the keys.
func keyed(indexes []*index) bool {
	return !slices.ContainsFunc(indexes, func(ix *index) bool { return !ix.ByNamespace })
}

// index returns the index of a family by name, or nil. The name of a label index is its label key.
func (c *contents) index(name string, f family) *index {
	for _, ix := range c.indexes {
		if ix.Name == name && ix.family == f {
			return ix
		}
	}
	return nil
}

// A point read takes no lock, so it shows a write before the write section ends. Each write
// therefore changes the lists first, which drops their cached snapshots. A goroutine that has seen
// the write by a point read then waits for the section's end when it reads a list.

// put stores a record with its index values. If the key already has a record, put updates that
// record and returns its earlier object.
func (c *contents) put(w *Writer, r *record, values []indexKey) (old any, replaced bool) {
	p, before := c.records.reserve(r.view())
	if before == nil {
		c.insert(w, p, r, values)
		return nil, false
	}
	from, stored := r.value.origin, r.value.stored()
	if c.shared || !before.value.slot.takes(stored) {
		old, _ = c.replace(w, p, r, before, stored, from, values)
		return old, true
	}
	old, _ = c.update(w, before, stored, from, values)
	return old, true
}

// insert stores a record with its index values at the spot of its key, which must be free.
func (c *contents) insert(w *Writer, p spot[entry], r *record, values []indexKey) {
	stored := r.value.stored()
	c.count(w, stored, nil)
	r.value.pos = c.all.add(stored, r)
	c.updatePostings(w, r, stored, values)
	c.records.publish(p, r)
}

// values returns the index values of a record with another version of its object, for update.
func (c *contents) values(w *Writer, r *record, stored any) []indexKey {
	if c.keyed {
		return nil
	}
	return w.indexKeysOf(c.indexes, r, stored)
}

// update stores another version of a record's object, of the same type, and returns the version
// before.
func (c *contents) update(w *Writer, r *record, stored any, from origin, values []indexKey) (old any, was origin) {
	e := &r.value
	old = c.all.set(e.pos, stored)
	c.count(w, stored, old)
	if c.keyed {
		e.refresh(stored)
	} else {
		c.updatePostings(w, r, stored, values)
	}
	was, e.origin = e.origin, from
	e.slot.store(stored)
	return old, was
}

// replace stores another version of an object in a new record r, which replaces the record of its
// key. r inherits the mark, the positions and the postings.
func (c *contents) replace(w *Writer, p spot[entry], r, before *record, stored any, from origin, values []indexKey) (old any, was origin) {
	inherit(r, before)
	e := &r.value
	c.all.setOwner(e.pos, r)
	for i := range e.postingCount() {
		p := e.posting(i)
		p.list.value.setOwner(p.pos, r)
	}
	old, was = c.update(w, r, stored, from, values)
	p.group.slots[p.slot].Store(r)
	return old, was
}

// remove deletes a record from the list, the indexes and the table.
func (c *contents) remove(r *record) {
	e := &r.value
	if moved := c.all.remove(e.pos); moved != nil {
		moved.value.pos = e.pos
	}
	for i := range e.postingCount() {
		removePosting(e.posting(i))
	}
	c.records.remove(r.view())
	c.forget(r.view())
}

// count reports an added and a removed form to the codec. Contents that are built aside are counted
// just before the swap.
func (c *contents) count(w *Writer, come, gone any) {
	if !c.shared {
		w.count(come, gone)
	}
}

// forget drops the record of failed index functions for a key.
func (c *contents) forget(key Key) {
	for _, ix := range c.indexes {
		delete(ix.unindexed, key)
	}
}

// move takes a record from other contents, with its values of these indexes. Afterwards the
// record's positions refer to these contents.
func (c *contents) move(w *Writer, r *record) {
	p, _ := c.records.reserve(r.view())
	c.records.publish(p, r)
	e := &r.value
	stored := e.stored()
	e.pos = c.all.add(stored, r)
	postings := w.postings
	for i := range e.postingCount() {
		old := e.posting(i).list
		ix := c.index(old.value.index.Name, old.value.index.family)
		if ix == nil {
			continue
		}
		postings = append(postings, ix.add(old.name(), stored, r))
	}
	w.setPostings(r, postings)
}

// updatePostings makes the index lists agree with a record's next object and its index values.
func (c *contents) updatePostings(w *Writer, r *record, stored any, values []indexKey) {
	switch r.value.comparePostings(values) {
	case same:
		r.value.refresh(stored)
	case relocated:
		for i := range values {
			updatePosting(r, i, stored, values[i])
		}
	default:
		replacePostings(w, r, stored, values)
	}
}
