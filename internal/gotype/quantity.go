package gotype

import (
	"reflect"
	"unsafe"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Parts are the fields of a Quantity, in its memory layout.
type Parts struct {
	Value  int64
	Scale  int32
	big    unsafe.Pointer // to a number beyond int64
	Text   string         // cached by String, or the decoded text if it is canonical
	Format resource.Format
}

// PartsOf returns the parts of a Quantity that objects may share in a place without an address. It
// returns false if the layout is unknown, or if the number does not fit into a scaled int64: copies of
// such a Quantity share a number that its methods write into. String caches the text in the copy that it
// is called on, so the stored text does not change.
func PartsOf(q *resource.Quantity) (p *Parts, ok bool) {
	if !quantityKnown {
		return nil, false
	}
	p = (*Parts)(unsafe.Pointer(q))
	return p, p.big == nil
}

// quantityKnown reports whether the layout of Quantity is that of Parts.
var quantityKnown = hasParts(Quantity)

// hasParts reports whether a type has the layout of Parts. The number and its scale are in a nested
// struct, and so is the pointer.
func hasParts(t reflect.Type) bool {
	parts := flatKinds(reflect.TypeFor[Parts](), 0)
	parts[2].kind = reflect.Pointer
	got := flatKinds(t, 0)
	if len(got) != len(parts) {
		return false
	}
	for i := range parts {
		if got[i] != parts[i] {
			return false
		}
	}
	return true
}

type kindAt struct {
	offset uintptr
	kind   reflect.Kind
}

func flatKinds(t reflect.Type, offset uintptr) (all []kindAt) {
	if t.Kind() != reflect.Struct {
		return []kindAt{{offset, t.Kind()}}
	}
	for i := range t.NumField() {
		f := t.Field(i)
		all = append(all, flatKinds(f.Type, offset+f.Offset)...)
	}
	return all
}
