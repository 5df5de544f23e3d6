package indexer

import (
	"sort"
	"unsafe"
)

// post is a posting: a record's position in the list of an index value.
type post struct {
	list *node[vector]
	pos  uint32
}

// indexKey is one index value of a record.
type indexKey struct {
	index *index
	value string
}

// isOf reports whether list is the list of this value. The caller compares only lists and
// values of one record, and so of one namespace.
func (v indexKey) isOf(list *node[vector]) bool {
	return list.value.index == v.index && list.name() == v.value
}

// difference compares a record's postings with the index values it should have.
type difference uint8

const (
	rearranged difference = iota // anything else
	same                         // each posting is for its value
	relocated                    // each posting is for the index of its value; some values are new
)

// diff compares the postings with index values. If an index has several values and some are new,
// the result is rearranged: diff does not match old values with new ones.
func (e *entry) diff(values []indexKey) difference {
	if len(values) != e.posts() {
		return rearranged
	}
	result := same
	for i, v := range values {
		switch list := e.post(i).list; {
		case v.isOf(list):
		case list.value.index != v.index, i > 0 && values[i-1].index == v.index, i+1 < len(values) && values[i+1].index == v.index:
			return rearranged
		default:
			result = relocated
		}
	}
	return result
}

// several is a bit of listPos. If it is set, the other bits are a number of postings. No list is
// long enough to need that bit.
const several = 1 << 31

// posts returns the number of postings, which are in the order of the indexes. Most records have
// one: lists is then its list, and listPos its position. With several, lists points to an array of
// posts. With none, lists is nil.
func (e *entry) posts() int {
	switch {
	case e.lists == nil:
		return 0
	case e.listPos&several == 0:
		return 1
	}
	return int(e.listPos &^ several)
}

func (e *entry) post(i int) post {
	if e.listPos&several == 0 {
		return post{(*node[vector])(e.lists), e.listPos}
	}
	return e.array()[i]
}

// array returns the postings of a record with several.
func (e *entry) array() []post { return unsafe.Slice((*post)(e.lists), e.posts()) }

func (e *entry) setPost(i int, p post) {
	if e.listPos&several == 0 {
		e.lists, e.listPos = unsafe.Pointer(p.list), p.pos
		return
	}
	e.array()[i] = p
}

// setPosts replaces the postings with a copy of the slice.
func (e *entry) setPosts(posts []post) {
	switch n := len(posts); n {
	case 0:
		e.lists, e.listPos = nil, 0
	case 1:
		e.lists, e.listPos = unsafe.Pointer(posts[0].list), posts[0].pos
	default:
		array := make([]post, n)
		copy(array, posts)
		e.lists, e.listPos = unsafe.Pointer(&array[0]), several|uint32(n) //nolint:gosec // few indexes
	}
}

// refresh writes the record's next object into its index lists.
func (e *entry) refresh(stored any) {
	for i := range e.posts() {
		p := e.post(i)
		p.list.value.set(p.pos, stored)
	}
}

// setPos records the object's new position in list.
func (e *entry) setPos(list *node[vector], at uint32) { e.setPost(e.find(list), post{list, at}) }

// find returns the place of the posting in a list, which must exist. If there are very many
// postings, it uses binary search, by the order of the indexes and then by the values, which are
// sorted if an index has more than a few.
func (e *entry) find(list *node[vector]) int {
	from, to := 0, e.posts()
	if to > few {
		posts, ix := e.array(), list.value.index
		from = sort.Search(len(posts), func(i int) bool { return posts[i].list.value.index.order >= ix.order })
		to = sort.Search(len(posts), func(i int) bool { return posts[i].list.value.index.order > ix.order })
		if to-from > few {
			return from + sort.Search(to-from, func(i int) bool { return posts[from+i].list.name() >= list.name() })
		}
	}
	for e.post(from).list != list {
		from++
	}
	return from
}

// updatePosting makes posting i of r agree with its next object and index value.
func updatePosting(r *record, i int, stored any, v indexKey) {
	p := r.value.post(i)
	if v.isOf(p.list) {
		p.list.value.set(p.pos, stored)
		return
	}
	removePosting(p)
	r.value.setPost(i, v.index.add(v.value, stored, r))
}

// replacePostings gives r the postings of its next object's values and removes the others. It takes
// linear time, because an object may have very many values.
func replacePostings(w *Writer, r *record, stored any, values []indexKey) {
	e := &r.value
	var left map[indexKey]post
	if n := e.posts(); n > 0 {
		left = make(map[indexKey]post, n)
	}
	for i := range e.posts() {
		p := e.post(i)
		left[indexKey{p.list.value.index, p.list.name()}] = p
	}
	posts := w.posts[:0]
	for _, v := range values {
		p, ok := left[v]
		if ok {
			p.list.value.set(p.pos, stored)
			delete(left, v)
		} else {
			p = v.index.add(v.value, stored, r)
		}
		posts = append(posts, p)
	}
	for i := range e.posts() { // in their order, so that simulated runs are reproducible
		p := e.post(i)
		if _, gone := left[indexKey{p.list.value.index, p.list.name()}]; gone {
			removePosting(p)
		}
	}
	e.setPosts(posts)
	w.posts = posts
}

// removePosting removes an object from the list of an index value, and an emptied list from the
// index.
func removePosting(p post) {
	v := &p.list.value
	if moved := v.remove(p.pos); moved != nil {
		moved.value.setPos(p.list, p.pos)
	}
	if v.len() == 0 {
		v.index.values.remove(p.list.view())
	}
}
