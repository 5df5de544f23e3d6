package pack

import (
	"sync/atomic"
	"unsafe"
	"weak"
)

// baseData is the bytes of an unpacked base, or of a dictionary.
type baseData struct {
	object weak.Pointer[Object] // weak, so that the cache does not keep the base alive
	data   []byte
	index  index // empty for readers
}

// unpack unpacks a base into b. It reuses the memory of b.
func (b *baseData) unpack(base *Object, indexed bool) (err error) {
	b.data, err = base.unpack(b.data[:0], nil)
	if err == nil && indexed {
		b.index.build(b.data)
	}
	return err
}

func (b *baseData) size() int64 { return int64(len(b.data) + 2*len(b.index.slots)) }

// maxCacheBytes bounds a cache, except for one base that each goroutine may be adding.
const maxCacheBytes = 512 << 10

// baseCache caches unpacked bases, because objects of one family often come in a row. Any goroutine may use it
// without waiting.
type baseCache struct {
	indexed bool
	slots   [64]cacheSlot
	bytes   atomic.Int64
	emptied atomic.Uint32 // number of slots emptied to make room
}

// cacheSlot caches a base of one hash, after it was needed twice in a row.
//
// Invariant: the data that kept points to does not change.
type cacheSlot struct {
	kept   atomic.Pointer[baseData]
	missed atomic.Uintptr // address of the last base that was not kept; only compared
}

// get returns an unpacked base, which is cached or in spare. spare belongs to the caller.
func (s *baseCache) get(base *Object, spare *baseData) (*baseData, error) {
	address := uintptr(unsafe.Pointer(base))
	slot := &s.slots[hash(uint64(address))>>58]
	if b := slot.kept.Load(); b != nil && b.object.Value() == base {
		return b, nil
	}
	if slot.missed.Swap(address) != address {
		err := spare.unpack(base, s.indexed)
		return spare, err
	}
	b := &baseData{object: weak.Make(base)}
	if err := b.unpack(base, s.indexed); err != nil {
		return nil, err
	}
	s.put(slot, b)
	for s.bytes.Load() > maxCacheBytes {
		s.put(&s.slots[s.emptied.Add(1)%uint32(len(s.slots))], nil)
	}
	return b, nil
}

// put replaces the base in a slot with b, which may be nil.
func (s *baseCache) put(slot *cacheSlot, b *baseData) {
	if b != nil {
		s.bytes.Add(b.size())
	}
	if before := slot.kept.Swap(b); before != nil {
		s.bytes.Add(-before.size())
	}
}
