package indexer

// contents is everything that readers see: the objects by key, the list of
// all, and the indexes. The struct itself never changes; what it points to is
// written under the indexer's locks. Adding an index, or replacing more than a
// few objects, makes another contents and swaps it in.
type contents[T any] struct {
	records *table[entry[T]]
	all     *vector[T]
	indexes []*index[T]
}

func newContents[T any](size int, indexes []*index[T]) *contents[T] {
	return &contents[T]{records: newTable[entry[T]](size), all: new(vector[T]), indexes: indexes}
}

// index returns the index of a family by its name, which for posting lists is
// a label key, or nil.
func (c *contents[T]) index(name string, f family) *index[T] {
	for _, ix := range c.indexes {
		if ix.Name == name && ix.family == f {
			return ix
		}
	}
	return nil
}

// put stores a record under key; old is the one it replaces, or nil.
func (c *contents[T]) put(w *Writer[T], key Key, r *node[entry[T]]) (old *node[entry[T]]) {
	old = c.records.put(key, r)
	r.value.settlePart(old)
	if old == nil {
		r.value.at = c.all.add(r.value.object, r)
	} else {
		r.value.at = old.value.at
		if r.value.mark == 0 && r.value.part == old.value.part {
			r.value.mark = old.value.mark // a full state that holds the object holds it still
		}
		c.all.set(r.value.at, r.value.object, r)
	}
	c.post(w, r, old)
	return old
}

// remove takes a key out; old is its record, or nil.
func (c *contents[T]) remove(key Key) (old *node[entry[T]]) {
	old = c.records.remove(key)
	if old == nil {
		return nil
	}
	e := &old.value
	if moved := c.all.remove(e.at); moved != nil {
		moved.value.at = e.at
	}
	for i := range e.posts() {
		unpost(e.post(i))
	}
	c.forget(key)
	return old
}

// forget drops the failures of index functions on a key.
func (c *contents[T]) forget(key Key) {
	for _, ix := range c.indexes {
		delete(ix.broken, key)
	}
}

// adopt takes over a record of other contents, with its index values. Its
// places are in these contents from then on.
func (c *contents[T]) adopt(w *Writer[T], r *node[entry[T]]) {
	c.records.insert(r)
	e := &r.value
	e.at = c.all.add(e.object, r)
	posts := w.posts[:0]
	for i := range e.posts() {
		old := e.post(i).list
		ix := c.index(old.value.index.Name, old.value.index.family)
		if ix.refused {
			continue
		}
		posts = append(posts, ix.add(old.name, r))
	}
	e.setPosts(posts)
	w.posts = posts
}

// post brings the index lists in line with r, which replaces old (or nothing).
func (c *contents[T]) post(w *Writer[T], r, old *node[entry[T]]) {
	values := w.valuesIn(c.indexes, r)
	if old != nil {
		r.value.takePosts(&old.value)
	}
	switch r.value.fit(values) {
	case same:
		for i := range values {
			p := r.value.post(i)
			p.list.value.set(p.at, r.value.object, r)
		}
	case moved:
		for i := range values {
			repost(r, i, values[i])
		}
	default:
		rearrange(w, r, values)
	}
}
