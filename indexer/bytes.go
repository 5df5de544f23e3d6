package indexer

import "unsafe"

// Scan calls visit with the stored form of the objects from a place on. The first place is 0. When
// visit returns false, Scan finishes the current group of objects and returns the next place, or 0
// at the end. Scan does not wait for writers. It may visit an object that is being written in
// either version, twice, or not at all. If the store grows or is replaced between two calls, the
// second call misses objects. Use Scan only for samples.
func (w *Writer) Scan(place int, visit func(stored any) bool) (next int) {
	groups := *w.x.live.Load().records.groups.Load()
	for more := true; more && place < len(groups); place++ {
		for s := range groups[place].slots { // all slots: a place is the index of a group
			if r := groups[place].slots[s].Load(); r != nil && !visit(r.value.stored()) {
				more = false
			}
		}
	}
	if place >= len(groups) {
		return 0
	}
	return place
}

// Bytes estimates the heap memory of the store without its objects: the table of keys, the list of
// all objects, and the indexes. It does not wait for writers. Its time is proportional to the
// number of keys and index values.
func (x *store) Bytes() int64 {
	c := x.live.Load()
	n, bytes := 0, c.records.bytes()
	for r := range c.records.all {
		n++
		bytes += r.size()
	}
	postings := 0
	for _, ix := range c.indexes {
		s := ix.size()
		postings += s.Entries
		bytes += ix.values.bytes() + int64(s.Entries)*listed
		for v := range ix.values.all {
			bytes += v.size() + int64(unsafe.Sizeof(chunk{})) + 2*word64
		}
	}
	if n > 0 && postings > n { // several per record, in an array
		bytes += int64(postings) * int64(unsafe.Sizeof(posting{}))
	}
	return bytes + int64(n)*listed
}

const (
	word64 = 8
	// listed is the size of a list entry: an object and the pointer to its record.
	listed = 2 * word64
)

// bytes returns the size of a table's groups.
func (t *table[V]) bytes() int64 {
	return int64(len(*t.groups.Load())) * int64(unsafe.Sizeof(group[V]{}))
}

// size returns the size of a node with its name.
func (n *node[V]) size() int64 {
	bare := int64(unsafe.Sizeof(*n))
	switch rest := int64(n.length) - headSize; {
	case n.length == longName:
		return bare + 2*word64 + int64(len(n.name()))
	case rest <= 8:
		return bare + 8
	case rest <= 24:
		return bare + 24
	case rest <= 40:
		return bare + 40
	default:
		return bare + 72
	}
}
