package pack

import (
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
	"weak"
)

// Ring says how long a decoded object is kept.
type Ring uint8

const (
	// Main keeps what arrives and what is read, the longer if it is read again.
	Main Ring = iota
	// Passing keeps what several handlers want one after another: the objects that updates have
	// replaced, and those of an initial state.
	Passing
	// Nowhere keeps nothing.
	Nowhere
)

// A Budget bounds the memory of the hot objects of any number of kinds. Any goroutine may use it.
type Budget struct {
	limit int64

	mu    sync.Mutex
	rings [Nowhere]ring
}

// NewBudget returns a budget of so many bytes, at least 0. An eighth of it is for what passes.
func NewBudget(bytes int64) *Budget {
	b := &Budget{limit: bytes}
	b.rings[Main] = ring{limit: bytes - bytes/8, chances: 64}
	b.rings[Passing] = ring{limit: bytes / 8}
	return b
}

// Limit returns the bytes of the budget.
func (b *Budget) Limit() int64 { return b.limit }

// Used returns the bytes of hot objects, as they were estimated. They are at most the limit. Dead ones count until
// they are collected and, a while later, noticed.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()

	return b.rings[Main].used + b.rings[Passing].used
}

// hasRoom reports whether the main ring has room for an object of a size beside those that are there.
func (b *Budget) hasRoom(size int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()

	return size <= b.rings[Main].limit-b.rings[Main].used
}

// keep makes an object hot if it has room, and returns the decoded object that everybody gets.
func (b *Budget) keep(o *Object, size int64, decoded unsafe.Pointer, in Ring) unsafe.Pointer {
	b.mu.Lock()
	defer b.mu.Unlock()

	if hot := atomic.LoadPointer(&o.hot); hot != nil {
		return hot
	}
	if in != Nowhere && b.rings[in].add(o, size) {
		atomic.StorePointer(&o.hot, decoded)
	}
	return decoded
}

// ring is a queue of hot objects. The first make room for others, but for those that have been read
// since they were last there. It keeps no object alive: one that nobody holds any more, such as a replaced
// version, is dead, and takes its decoded form along.
//
// Invariant: used is the sum of the sizes, and at most limit. A hot object has one entry in one ring, and
// the objects of all entries are hot or dead.
type ring struct {
	limit, used int64
	chances     int // how many objects may be passed over to make room by one
	entries     []entry
	added       int // entries since the dead were last removed
}

type entry struct {
	object weak.Pointer[Object]
	of     *atomic.Int64 // the bytes of its kind's hot objects
	size   int64
}

// add adds an object, and reports whether it has room.
func (r *ring) add(o *Object, size int64) bool {
	if size > r.limit {
		return false
	}
	if r.added++; 2*r.added > len(r.entries) {
		r.removeDead()
	}
	for r.used > r.limit-size {
		r.evict()
	}
	e := entry{weak.Make(o), o.kind().hot, size}
	e.of.Add(size)
	r.used += size
	r.entries = append(r.entries, e)
	return true
}

// removeDead removes the entries of dead objects. An object that is added pays for two entries.
func (r *ring) removeDead() {
	r.added = 0
	r.entries = slices.DeleteFunc(r.entries, func(e entry) bool {
		dead := e.object.Value() == nil
		if dead {
			r.remove(e)
		}
		return dead
	})
}

// evict makes an object cold. Whoever has got it decoded keeps it.
func (r *ring) evict() {
	for chances := r.chances; ; chances-- {
		e := r.entries[0]
		r.entries = r.entries[1:]
		o := e.object.Value()
		if o != nil && chances > 0 && atomic.AndUint32(o.blob.Load(), ^uint32(readBit))&readBit != 0 {
			r.entries = append(r.entries, e)
			continue
		}
		r.remove(e)
		if o != nil {
			atomic.StorePointer(&o.hot, nil)
		}
		return
	}
}

// remove subtracts the size of an entry that is no longer in the ring.
func (r *ring) remove(e entry) {
	r.used -= e.size
	e.of.Add(-e.size)
}
