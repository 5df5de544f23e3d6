package indexer

import (
	"reflect"
	"sync/atomic"
	"unsafe"
)

// slot holds an object for readers without a lock. An interface value is two words, its type
// and its data. An update changes only the data, in one atomic store; an object of another type
// needs another slot. So an update allocates nothing, and a look-up reads only the object's
// record.
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

// copyPointers fills room with the objects, if T is a pointer type and all objects are of it. It
// reports whether it did, and takes half the time of a type assertion for each object.
func copyPointers[T any](room []T, objects []any) bool {
	if reflect.TypeFor[T]().Kind() != reflect.Pointer {
		return false
	}
	var nothing T
	kind := slotOf(nothing).kind
	to := unsafe.Slice((*unsafe.Pointer)(unsafe.Pointer(unsafe.SliceData(room))), len(room))
	from := unsafe.Slice((*halves)(unsafe.Pointer(unsafe.SliceData(objects))), len(to))
	for i := range to {
		if from[i].kind != kind {
			return false
		}
		to[i] = from[i].data
	}
	return true
}
