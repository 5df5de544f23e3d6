package pack

import (
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
	"weak"
)

// Ring selects how long a decoded object is kept.
type Ring uint8

const (
	// Main keeps objects that arrive or are read. It keeps them longer if they are read again.
	Main Ring = iota
	// Transient keeps objects that several handlers need within a short time: those that an update has
	// replaced, and those of an initial state.
	Transient
	// Nowhere keeps no objects.
	Nowhere
)

// A Budget bounds the memory of the hot objects of one or more kinds. Any goroutine may use it.
type Budget struct {
	limit int64

	mu    sync.Mutex
	rings [Nowhere]ring
}

// NewBudget returns a budget of the given size, which must not be negative. An eighth of it is for [Transient].
func NewBudget(bytes int64) *Budget {
	b := &Budget{limit: bytes}
	b.rings[Main] = ring{limit: bytes - bytes/8, chances: 64}
	b.rings[Transient] = ring{limit: bytes / 8}
	return b
}

// Limit returns the size of the budget in bytes.
func (b *Budget) Limit() int64 { return b.limit }

// Used returns the estimated bytes of hot objects, which never exceed the limit. It includes
// garbage-collected objects that the budget has not noticed yet.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()

	return b.rings[Main].used + b.rings[Transient].used
}

// hasRoom reports whether the main ring has room for another object.
func (b *Budget) hasRoom(size int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()

	return size <= b.rings[Main].limit-b.rings[Main].used
}

// keep makes an object hot if there is room, and returns the decoded object for all readers.
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

// ring is a queue of hot objects. To make room it evicts the first ones, but moves an object to the end if it
// has been read since it was last there. A ring keeps no object alive. An object that nothing else refers to, such
// as a replaced version, is dead, and its decoded form is garbage too.
//
// Invariant: used is the sum of the sizes, and at most limit. A hot object has one entry in one ring. The
// objects of all entries are hot or dead.
type ring struct {
	limit, used int64
	chances     int // number of objects that evict may move to the end
	entries     []entry
	added       int // entries added since dead ones were last removed
}

type entry struct {
	object  weak.Pointer[Object]
	kindHot *atomic.Int64 // the kind's hot
	size    int64
}

// add adds an object, and reports whether it fits.
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
	e.kindHot.Add(size)
	r.used += size
	r.entries = append(r.entries, e)
	return true
}

// removeDead removes the entries of dead objects. Each added object pays for the check of two entries.
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

// evict makes an object cold. Readers that have its decoded form keep it.
func (r *ring) evict() {
	for chances := r.chances; ; chances-- {
		e := r.entries[0]
		r.entries = r.entries[1:]
		o := e.object.Value()
		if o != nil && chances > 0 && atomic.AndUint32(o.blob, ^uint32(readBit))&readBit != 0 {
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
	e.kindHot.Add(-e.size)
}
