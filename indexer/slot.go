package indexer

import (
	"sync/atomic"
	"unsafe"
)

// slot has an object for readers without a lock. An interface value is two words: its type and its
// data. An update changes only the data, in one atomic store. An object of another type needs
// another slot. So an update allocates nothing, and a look-up reads only the object's record.
type slot halves

// halves are the two words of an interface value, laid out as sync/atomic.Value expects them.
type halves struct{ kind, data unsafe.Pointer }

func slotOf(obj any) slot { return *(*slot)(unsafe.Pointer(&obj)) }

// load returns the object. Safe for any goroutine.
func (s *slot) load() (obj any) {
	w := (*halves)(unsafe.Pointer(&obj))
	w.kind, w.data = s.kind, atomic.LoadPointer(&s.data)
	return obj
}

// takes reports whether the slot can store an object: the types must be equal.
func (s *slot) takes(obj any) bool { return slotOf(obj).kind == s.kind }

// store replaces the object with another one of its type.
func (s *slot) store(obj any) { atomic.StorePointer(&s.data, slotOf(obj).data) }
