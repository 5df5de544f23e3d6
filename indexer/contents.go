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

// index returns the index of a name or of a label key, or nil.
func (c *contents[T]) index(name string, label bool) *index[T] {
	for _, ix := range c.indexes {
		if ix.Name == name && ix.label == label {
			return ix
		}
	}
	return nil
}

// put stores a record under key; old is the one it replaces, or nil.
func (c *contents[T]) put(w *Writer[T], key Key, r *node[entry[T]]) (old *node[entry[T]]) {
	old = c.records.put(key, r)
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
		ix := c.index(old.value.index.Name, old.value.index.label)
		if ix.refused {
			continue
		}
		list := ix.listFor(old.name)
		posts = append(posts, post[T]{list, list.value.add(e.object, r)})
	}
	e.setPosts(posts)
	w.posts = posts
}

// post brings the index lists in line with r, which replaces old (or nothing).
func (c *contents[T]) post(w *Writer[T], r, old *node[entry[T]]) {
	posts := w.posts[:0]
	changed := old == nil
	for _, ix := range c.indexes {
		if ix.refused {
			continue
		}
		for _, value := range w.valuesOf(ix, r) {
			// In the common case the values are those of before, in order.
			if old != nil && len(posts) < old.value.posts() {
				if p := old.value.post(len(posts)); p.list.name == value && p.list.value.index == ix {
					posts = append(posts, p)
					continue
				}
			}
			changed = true
			posts = append(posts, place(old, ix, value))
		}
	}
	w.posts = posts
	if !changed && len(posts) == old.value.posts() {
		r.value.list, r.value.listAt, r.value.more = old.value.list, old.value.listAt, old.value.more
		for _, p := range posts {
			p.list.value.set(p.at, r.value.object, r)
		}
		return
	}
	c.repost(posts, r, old)
}

// place returns where the next version of old stands in the list of a value:
// where old does, or a place that is yet to be given.
func place[T any](old *node[entry[T]], ix *index[T], value string) post[T] {
	if old != nil {
		for i := range old.value.posts() {
			if p := old.value.post(i); p.list.value.index == ix && p.list.name == value {
				return p
			}
		}
	}
	return post[T]{ix.listFor(value), unplaced}
}

const unplaced = ^uint32(0)

// repost gives r its places and takes away those that only old had.
func (c *contents[T]) repost(posts []post[T], r, old *node[entry[T]]) {
	if old != nil {
		for i := range old.value.posts() {
			if p := old.value.post(i); !holds(posts, p.list) {
				unpost(p)
			}
		}
	}
	for i := range posts {
		p := &posts[i]
		if p.at == unplaced {
			p.at = p.list.value.add(r.value.object, r)
		} else {
			p.list.value.set(p.at, r.value.object, r)
		}
	}
	r.value.setPosts(posts)
}

func holds[T any](posts []post[T], list *node[vector[T]]) bool {
	for i := range posts {
		if posts[i].list == list {
			return true
		}
	}
	return false
}

// unpost takes an object out of the list of an index value, and the list out
// of the index with its last object.
func unpost[T any](p post[T]) {
	v := &p.list.value
	if moved := v.remove(p.at); moved != nil {
		moved.value.moved(p.list, p.at)
	}
	if v.len() == 0 {
		v.index.values.remove(p.list.key())
	}
}
