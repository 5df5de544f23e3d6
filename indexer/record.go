package indexer

import "unique"

// entry is what the store holds of one version of one object, in the node of
// its key: a record. Readers see the key and the object, which never change; an
// update stores another record. All else is the writer's, and moves on to the
// next record.
//
// (A generic alias would name node[entry[T]]; the compiler of Go 1.26 fails on
// it where other packages instantiate this one.)
//
// Invariant: contents.all.owner(at) is this record, and for every post p of it
// p.list.value.owner(p.at) is this record.
type entry[T any] struct {
	object T
	stamp  uint64 // the caller's

	// Where the object stands in the lists of its index values: the first
	// place inline, since most objects have one, in the order of the indexes.
	list   *node[vector[T]]
	more   *[]post[T]
	listAt uint32

	at   uint32 // position in the list of all objects
	mark uint32 // the last full state that held the object
	part uint16 // the source that the object came from
}

// newRecord returns a record that knows its key before it is in a table.
func newRecord[T any](key Key, e entry[T]) *node[entry[T]] {
	return &node[entry[T]]{unique.Make(key.Namespace), key.Name, e}
}

// post is a place in the list of an index value.
type post[T any] struct {
	list *node[vector[T]]
	at   uint32
}

func (e *entry[T]) posts() int {
	switch {
	case e.list == nil:
		return 0
	case e.more == nil:
		return 1
	}
	return 1 + len(*e.more)
}

func (e *entry[T]) post(i int) post[T] {
	if i == 0 {
		return post[T]{e.list, e.listAt}
	}
	return (*e.more)[i-1]
}

// setPosts takes over a list of places; the slice stays the caller's.
func (e *entry[T]) setPosts(posts []post[T]) {
	e.list, e.listAt, e.more = nil, 0, nil
	if len(posts) > 0 {
		e.list, e.listAt = posts[0].list, posts[0].at
	}
	if len(posts) > 1 {
		more := make([]post[T], len(posts)-1)
		copy(more, posts[1:])
		e.more = &more
	}
}

// moved notes the object's new position in list.
func (e *entry[T]) moved(list *node[vector[T]], at uint32) {
	if e.list == list {
		e.listAt = at
		return
	}
	for i := range *e.more {
		if p := &(*e.more)[i]; p.list == list {
			p.at = at
			return
		}
	}
}
