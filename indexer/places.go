package indexer

import "unsafe"

// post is a place in the list of an index value.
type post struct {
	list *node[vector]
	at   uint32
}

// wanted is an index value that a record is to be found under.
type wanted struct {
	index *index
	value string
}

// isOf tells whether list is that of the value. All of it is about one record,
// and so about one namespace.
func (v wanted) isOf(list *node[vector]) bool {
	return list.value.index == v.index && list.name() == v.value
}

// fitting is what the places of a record are to the index values that it is to
// have.
type fitting uint8

const (
	other fitting = iota
	same          // each is that of its value
	moved         // each is of the index of its value, which for some is a new one
)

// fit compares the places with index values. Where an index has several values
// that are not those of before, it is not told which of them takes whose place.
func (e *entry) fit(values []wanted) fitting {
	if len(values) != e.posts() {
		return other
	}
	result := same
	for i, v := range values {
		switch list := e.post(i).list; {
		case v.isOf(list):
		case list.value.index != v.index, i > 0 && values[i-1].index == v.index, i+1 < len(values) && values[i+1].index == v.index:
			return other
		default:
			result = moved
		}
	}
	return result
}

// several marks a listAt that is the number of posts. No list is as long as that.
const several = 1 << 31

// A record's places are kept in the order of the indexes. Most records have one: lists
// is its list then, and listAt the position. Otherwise lists is the first of an array
// of posts, or nil.

func (e *entry) posts() int {
	switch {
	case e.lists == nil:
		return 0
	case e.listAt&several == 0:
		return 1
	}
	return int(e.listAt &^ several)
}

func (e *entry) post(i int) post {
	if e.listAt&several == 0 {
		return post{(*node[vector])(e.lists), e.listAt}
	}
	return e.array()[i]
}

// array returns the posts of a record that has several.
func (e *entry) array() []post { return unsafe.Slice((*post)(e.lists), e.posts()) }

func (e *entry) setPost(i int, p post) {
	if e.listAt&several == 0 {
		e.lists, e.listAt = unsafe.Pointer(p.list), p.at
		return
	}
	e.array()[i] = p
}

// setPosts takes over a list of places; the slice stays the caller's.
func (e *entry) setPosts(posts []post) {
	switch n := len(posts); n {
	case 0:
		e.lists, e.listAt = nil, 0
	case 1:
		e.lists, e.listAt = unsafe.Pointer(posts[0].list), posts[0].at
	default:
		array := make([]post, n)
		copy(array, posts)
		e.lists, e.listAt = unsafe.Pointer(&array[0]), several|uint32(n) //nolint:gosec // few indexes
	}
}

// refresh puts what is stored now into the lists that its record has places in.
func (e *entry) refresh() {
	stored := e.stored()
	for i := range e.posts() {
		p := e.post(i)
		p.list.value.set(p.at, stored)
	}
}

// moved notes the object's new position in list.
func (e *entry) moved(list *node[vector], at uint32) {
	for i := range e.posts() {
		if e.post(i).list == list {
			e.setPost(i, post{list, at})
			return
		}
	}
}

// repost brings place i of r in line with the value that it is for.
func repost(r *record, i int, v wanted) {
	p := r.value.post(i)
	if v.isOf(p.list) {
		p.list.value.set(p.at, r.value.stored())
		return
	}
	unpost(p)
	r.value.setPost(i, v.index.add(v.value, r))
}

// rearrange gives r the places of its values and takes those away that it has
// beyond them. An object may have very many values.
func rearrange(w *Writer, r *record, values []wanted) {
	e := &r.value
	var left map[wanted]post
	if n := e.posts(); n > 0 {
		left = make(map[wanted]post, n)
	}
	for i := range e.posts() {
		p := e.post(i)
		left[wanted{p.list.value.index, p.list.name()}] = p
	}
	posts := w.posts[:0]
	for _, v := range values {
		p, ok := left[v]
		if ok {
			p.list.value.set(p.at, e.stored())
			delete(left, v)
		} else {
			p = v.index.add(v.value, r)
		}
		posts = append(posts, p)
	}
	for i := range e.posts() { // in their order, so that a run can be repeated
		p := e.post(i)
		if _, gone := left[wanted{p.list.value.index, p.list.name()}]; gone {
			unpost(p)
		}
	}
	e.setPosts(posts)
	w.posts = posts
}

// unpost takes an object out of the list of an index value, and the list out
// of the index with its last object.
func unpost(p post) {
	v := &p.list.value
	if moved := v.remove(p.at); moved != nil {
		moved.value.moved(p.list, p.at)
	}
	if v.len() == 0 {
		v.index.values.remove(p.list.view())
	}
}
