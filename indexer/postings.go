package indexer

import (
	"sort"
	"unsafe"
)

// posting is an entry of a record in an index: the list of one index value, and the record's position
// in it.
type posting struct {
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

// comparison is the result of comparing a record's postings with the index values it should have.
type comparison uint8

const (
	rearranged comparison = iota // anything else
	same                         // each posting is for its value
	relocated                    // each posting is for the index of its value; some values are new
)

// comparePostings compares the postings with index values. If an index has several values and some are
// new, the result is rearranged, because comparePostings does not match old values with new ones.
func (e *entry) comparePostings(values []indexKey) comparison {
	if len(values) != e.postingCount() {
		return rearranged
	}
	result := same
	for i, v := range values {
		switch list := e.posting(i).list; {
		case v.isOf(list):
		case list.value.index != v.index, i > 0 && values[i-1].index == v.index, i+1 < len(values) && values[i+1].index == v.index:
			return rearranged
		default:
			result = relocated
		}
	}
	return result
}

// severalBit is a bit of postingPos. If it is set, the other bits are the number of postings. No list is
// long enough to need that bit.
const severalBit = 1 << 31

// postingCount returns the number of postings of a record, which are in the order of the indexes. Most
// records have one: postings then points to its list, and postingPos is its position. If there are
// several, postings points to an array of them. If there are none, postings is nil.
func (e *entry) postingCount() int {
	switch {
	case e.postings == nil:
		return 0
	case e.postingPos&severalBit == 0:
		return 1
	}
	return int(e.postingPos &^ severalBit)
}

func (e *entry) posting(i int) posting {
	if e.postingPos&severalBit == 0 {
		return posting{(*node[vector])(e.postings), e.postingPos}
	}
	return e.postingArray()[i]
}

// postingArray returns the postings of a record that has several.
func (e *entry) postingArray() []posting {
	return unsafe.Slice((*posting)(e.postings), e.postingCount())
}

func (e *entry) setPosting(i int, p posting) {
	if e.postingPos&severalBit == 0 {
		e.postings, e.postingPos = unsafe.Pointer(p.list), p.pos
		return
	}
	e.postingArray()[i] = p
}

// setPostings replaces the postings with a copy of the slice.
func (e *entry) setPostings(postings []posting) {
	switch n := len(postings); n {
	case 0:
		e.postings, e.postingPos = nil, 0
	case 1:
		e.postings, e.postingPos = unsafe.Pointer(postings[0].list), postings[0].pos
	default:
		array := make([]posting, n)
		copy(array, postings)
		e.postings, e.postingPos = unsafe.Pointer(&array[0]), severalBit|uint32(n) //nolint:gosec // few indexes
	}
}

// refresh writes the record's next object into its index lists.
func (e *entry) refresh(stored any) {
	for i := range e.postingCount() {
		p := e.posting(i)
		p.list.value.set(p.pos, stored)
	}
}

// setPosition records the object's new position in list.
func (e *entry) setPosition(list *node[vector], at uint32) {
	e.setPosting(e.findPosting(list), posting{list, at})
}

// findPosting returns the index of the posting in a list. The posting must exist. If there are very many
// postings, it uses binary search, by the order of the indexes and then by the values, which are
// sorted if an index has more than a few.
func (e *entry) findPosting(list *node[vector]) int {
	from, to := 0, e.postingCount()
	if to > few {
		postings, ix := e.postingArray(), list.value.index
		from = sort.Search(len(postings), func(i int) bool { return postings[i].list.value.index.order >= ix.order })
		to = sort.Search(len(postings), func(i int) bool { return postings[i].list.value.index.order > ix.order })
		if to-from > few {
			return from + sort.Search(to-from, func(i int) bool { return postings[from+i].list.name() >= list.name() })
		}
	}
	for e.posting(from).list != list {
		from++
	}
	return from
}

// updatePosting makes posting i of r agree with its next object and index value.
func updatePosting(r *record, i int, stored any, v indexKey) {
	p := r.value.posting(i)
	if v.isOf(p.list) {
		p.list.value.set(p.pos, stored)
		return
	}
	removePosting(p)
	r.value.setPosting(i, v.index.add(v.value, stored, r))
}

// replacePostings gives r the postings of its next object's values and removes the others. It takes
// linear time, because an object may have very many values.
func replacePostings(w *Writer, r *record, stored any, values []indexKey) {
	e := &r.value
	var left map[indexKey]posting
	if n := e.postingCount(); n > 0 {
		left = make(map[indexKey]posting, n)
	}
	for i := range e.postingCount() {
		p := e.posting(i)
		left[indexKey{p.list.value.index, p.list.name()}] = p
	}
	postings := w.postings
	for _, v := range values {
		p, ok := left[v]
		if ok {
			p.list.value.set(p.pos, stored)
			delete(left, v)
		} else {
			p = v.index.add(v.value, stored, r)
		}
		postings = append(postings, p)
	}
	for i := range e.postingCount() { // in their order, so that simulated runs are reproducible
		p := e.posting(i)
		if _, gone := left[indexKey{p.list.value.index, p.list.name()}]; gone {
			removePosting(p)
		}
	}
	w.setPostings(r, postings)
}

// removePosting removes an object from the list of an index value, and an emptied list from the
// index.
func removePosting(p posting) {
	v := &p.list.value
	if moved := v.remove(p.pos); moved != nil {
		moved.value.setPosition(p.list, p.pos)
	}
	if v.len() == 0 {
		v.index.values.remove(p.list.view())
	}
}
