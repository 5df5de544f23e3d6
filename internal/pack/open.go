package pack

import (
	"sync/atomic"
	"unsafe"
	"weak"
)

// openBase is a base undone to its bytes. The dictionary is one as well.
type openBase struct {
	of    weak.Pointer[Object] // a strong one would keep the base alive when no object needs it
	data  []byte
	index index // empty for readers
}

// undo makes b the open base of an object, in the memory that b has.
func (b *openBase) undo(base *Object, indexed bool) (err error) {
	b.data, err = base.undo(b.data[:0], nil)
	if err == nil && indexed {
		b.index.build(b.data)
	}
	return err
}

func (b *openBase) size() int64 { return int64(len(b.data) + 2*len(b.index.slots)) }

// mostOpen bounds the bytes of open bases, but for one that each goroutine may be adding.
const mostOpen = 512 << 10

// openBases holds bases undone, for objects of one family that come one after another. Any goroutine
// may use it; nobody waits.
type openBases struct {
	indexed bool
	slots   [64]openSlot
	bytes   atomic.Int64
	emptied atomic.Uint32 // slots, to make room
}

// openSlot has the base of one hash that was wanted twice in a row.
//
// Invariant: what kept points to does not change.
type openSlot struct {
	kept   atomic.Pointer[openBase]
	missed atomic.Uintptr // the address of the base that was wanted last and is not kept; only compared
}

// open returns a base undone. It is kept, or in the memory of spare, which belongs to the caller.
func (s *openBases) open(base *Object, spare *openBase) (*openBase, error) {
	address := uintptr(unsafe.Pointer(base))
	slot := &s.slots[hash(uint64(address))>>58]
	if b := slot.kept.Load(); b != nil && b.of.Value() == base {
		return b, nil
	}
	if slot.missed.Swap(address) != address {
		err := spare.undo(base, s.indexed)
		return spare, err
	}
	b := &openBase{of: weak.Make(base)}
	if err := b.undo(base, s.indexed); err != nil {
		return nil, err
	}
	s.put(slot, b)
	for s.bytes.Load() > mostOpen {
		s.put(&s.slots[s.emptied.Add(1)%uint32(len(s.slots))], nil)
	}
	return b, nil
}

// put puts a base or nil into a slot, in place of what is in it.
func (s *openBases) put(slot *openSlot, b *openBase) {
	if b != nil {
		s.bytes.Add(b.size())
	}
	if before := slot.kept.Swap(b); before != nil {
		s.bytes.Add(-before.size())
	}
}
