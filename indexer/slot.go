package indexer

import (
	"sync/atomic"
	"unsafe"
)

// slot holds an object for readers that take no lock. An interface value is two
// words, its type and its data. Of these only the data changes while readers
// look, in one atomic store; an object of another type goes into another slot. So
// an update allocates nothing, and a look-up reads the object's record only.
type slot halves

// halves are the two words of an interface value, as sync/atomic.Value has them.
type halves struct{ kind, data unsafe.Pointer }

func slotOf(obj any) slot { return *(*slot)(unsafe.Pointer(&obj)) }

// load returns the object. Safe for any goroutine.
func (s *slot) load() (obj any) {
	w := (*halves)(unsafe.Pointer(&obj))
	w.kind, w.data = s.kind, atomic.LoadPointer(&s.data)
	return obj
}

// takes tells whether an object can be stored: whether its type is the slot's.
func (s *slot) takes(obj any) bool { return slotOf(obj).kind == s.kind }

// store replaces the object by another one of its type.
func (s *slot) store(obj any) { atomic.StorePointer(&s.data, slotOf(obj).data) }
