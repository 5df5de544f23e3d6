package indexer

import "unsafe"

// record holds one object of the store, under its key. Its number is the mark of the
// last replacement that held the object as it is.
type record = node[entry]

// entry is a record but for its key. Readers see the key, which never changes,
// and what is stored of the object, in its slot. All else is the writer's.
//
// Invariant: contents.all.owner(at) is this record, and for every post p of it
// p.list.value.owner(p.at) is this record.
type entry struct {
	slot   slot
	origin origin
	// Where the object stands in the lists of its index values, see places.go.
	lists  unsafe.Pointer
	listAt uint32
	at     uint32 // position in the list of all objects
}

// origin says where an object came from: the part, in the lowest 16 bits, and in those
// above the stamp that the caller has put with it.
type origin uint64

// StampBits is how many of a stamp's bits the store keeps, from the lowest on.
const StampBits = 48

func originOf(part uint16, stamp uint64) origin { return origin(stamp<<16 | uint64(part)) }

func (o origin) part() uint16 { return uint16(o) } //nolint:gosec // the lowest bits

func (o origin) stamp() uint64 { return uint64(o >> 16) }

// newRecord returns a record that knows its key before it is in a table.
func newRecord(key Key, stored any, from origin) *record {
	r := newNode[entry](key)
	r.value.slot, r.value.origin = slotOf(stored), from
	return r
}

// stored returns what the slot holds: the object, or what a [Codec] makes of it.
func (e *entry) stored() any { return e.slot.load() }

// takeOver gives a record what is the writer's in the one that it replaces, which
// keeps the index values that it has.
func takeOver(r, before *record) {
	r.number = before.number
	e, b := &r.value, &before.value
	e.origin, e.at = b.origin, b.at
	e.lists, e.listAt = b.lists, b.listAt
	if e.posts() > 1 {
		e.setPosts(b.array()) // a copy
	}
}
