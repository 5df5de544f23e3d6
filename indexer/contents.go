package indexer

import "slices"

// contents is everything that readers see: the objects by key, the list of
// all, and the indexes. Once shown the struct itself never changes; what it
// points to is written under the indexer's locks. Adding an index, or replacing
// more than a few objects, makes another contents and swaps it in.
type contents struct {
	records *table[entry]
	all     *vector
	indexes []*index
	// keyed says that the values of all indexes are those of the keys, which no
	// update changes.
	keyed bool
	// shared says that readers see the records in other contents, while these
	// are being made: a record that changes is replaced, and not written to.
	shared bool
}

func newContents(records *table[entry], all *vector, indexes []*index) *contents {
	return &contents{records: records, all: all, indexes: indexes, keyed: keyed(indexes)}
}

// keyed tells whether the values of all indexes are those of the keys.
func keyed(indexes []*index) bool {
	return !slices.ContainsFunc(indexes, func(ix *index) bool { return !ix.ByNamespace })
}

// index returns the index of a family by its name, which for posting lists is
// a label key, or nil.
func (c *contents) index(name string, f family) *index {
	for _, ix := range c.indexes {
		if ix.Name == name && ix.family == f {
			return ix
		}
	}
	return nil
}

// put stores a record of an object, or, where its key has one, what is in it. It
// returns what was there before.
func (c *contents) put(w *Writer, r *record, obj any) (old any, replaced bool) {
	p, before := c.records.seek(r.view())
	if before == nil {
		c.insert(w, p, r, obj)
		return nil, false
	}
	from, stored := r.value.origin, r.value.stored()
	values := c.values(w, before, obj)
	w.retain(before)
	if c.shared || !before.value.slot.takes(stored) {
		c.succeed(p, r, before)
		before = r
	}
	old, _ = c.update(w, before, stored, from, values)
	return old, true
}

// insert stores a record of an object at the spot of its key, which has none.
func (c *contents) insert(w *Writer, p spot[entry], r *record, obj any) {
	values := w.valuesIn(c.indexes, r, obj)
	c.records.fill(p, r)
	r.value.at = c.all.add(r.value.stored(), r)
	c.post(w, r, values)
}

// values returns the index values of a record with another version of its object,
// for update.
func (c *contents) values(w *Writer, r *record, obj any) []wanted {
	if c.keyed {
		return nil
	}
	return w.valuesIn(c.indexes, r, obj)
}

// taker returns a record that takes what is to be stored: the one at the spot of its
// key or, where that holds something of another type, one in its place.
func (c *contents) taker(p spot[entry], before *record, stored any) *record {
	if before.value.slot.takes(stored) {
		return before
	}
	r := newRecord(before.view(), stored, 0)
	c.succeed(p, r, before)
	return r
}

// update makes a record hold another version of its object, of the same type, and
// returns the one before.
func (c *contents) update(w *Writer, r *record, stored any, from origin, values []wanted) (old any, was origin) {
	e := &r.value
	was, e.origin = e.origin, from
	e.slot.store(stored)
	old = c.all.set(e.at, stored)
	if c.keyed {
		e.refresh()
	} else {
		c.post(w, r, values)
	}
	return old, was
}

// succeed puts r in the place of another record of its key, with what is the
// writer's in that.
func (c *contents) succeed(p spot[entry], r, before *record) {
	e := &r.value
	takeOver(r, before)
	p.group.slots[p.slot].Store(r)
	c.all.setOwner(e.at, r)
	for i := range e.posts() {
		p := e.post(i)
		p.list.value.setOwner(p.at, r)
	}
}

// remove takes the record of a key out.
func (c *contents) remove(key Key) {
	old := c.records.remove(key)
	e := &old.value
	if moved := c.all.remove(e.at); moved != nil {
		moved.value.at = e.at
	}
	for i := range e.posts() {
		unpost(e.post(i))
	}
	c.forget(key)
}

// forget drops the failures of index functions on a key.
func (c *contents) forget(key Key) {
	for _, ix := range c.indexes {
		delete(ix.broken, key)
	}
}

// adopt takes over a record of other contents, with its index values. Its
// places are in these contents from then on.
func (c *contents) adopt(w *Writer, r *record) {
	p, _ := c.records.seek(r.view())
	c.records.fill(p, r)
	e := &r.value
	e.at = c.all.add(e.stored(), r)
	posts := w.posts[:0]
	for i := range e.posts() {
		old := e.post(i).list
		ix := c.index(old.value.index.Name, old.value.index.family)
		if ix.disabled() {
			continue
		}
		posts = append(posts, ix.add(old.name(), r))
	}
	e.setPosts(posts)
	w.posts = posts
}

// post brings the index lists in line with the object of r and its values.
func (c *contents) post(w *Writer, r *record, values []wanted) {
	switch r.value.fit(values) {
	case same:
		r.value.refresh()
	case moved:
		for i := range values {
			repost(r, i, values[i])
		}
	default:
		rearrange(w, r, values)
	}
}
