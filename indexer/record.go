package indexer

import "unsafe"

// record has an object of the store under its key. The node's mark is that of the last replacement
// that had the object unchanged.
type record = node[entry]

// entry is a record without its key. Readers see the key, which never changes, and the slot with
// the stored object. Only the writer uses the other fields, except that a search reads the postings
// while it holds mu, see contents.moving.
//
// Invariant: contents.all.owner(pos) is this record, and p.list.value.owner(p.pos) is this
// record for each of its postings p.
type entry struct {
	slot   slot
	origin origin
	// postings and postingPos are the postings in the index lists, see postings.go.
	postings   unsafe.Pointer
	postingPos uint32
	pos        uint32 // position in the list of all objects
}

// origin says where an object came from. The lowest 16 bits are the number of the source, the
// others the caller's stamp.
type origin uint64

// StampBits is the number of a stamp's lowest bits that the store keeps.
const StampBits = 48

func originOf(source uint16, stamp uint64) origin { return origin(stamp<<16 | uint64(source)) }

func (o origin) source() uint16 { return uint16(o) } //nolint:gosec // the lowest bits

func (o origin) stamp() uint64 { return uint64(o >> 16) }

// newRecord returns a record that is not in a table yet.
func newRecord(key Key, stored any, from origin) *record {
	r := newNode[entry](key)
	r.value.slot, r.value.origin = slotOf(stored), from
	return r
}

// stored returns the object in its stored form, see [Codec].
func (e *entry) stored() any { return e.slot.load() }

func (e *entry) asStored() Stored { return Stored{e.stored(), e.origin.source(), e.origin.stamp()} }

// inherit copies the writer's fields of a record to its replacement. The replaced record keeps its
// index values.
func inherit(r, before *record) {
	r.mark = before.mark
	e, b := &r.value, &before.value
	e.origin, e.pos = b.origin, b.pos
	e.postings, e.postingPos = b.postings, b.postingPos
	if e.postingCount() > 1 {
		e.setPostings(b.postingArray()) // a copy
	}
}
