package gotype

import (
	"reflect"
	"unsafe"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Parts are what a Quantity consists of, in its memory layout.
type Parts struct {
	Value  int64
	Scale  int32
	big    unsafe.Pointer // to a number above int64
	Text   string         // as String has cached it, or as it was decoded if that is canonical
	Format resource.Format
}

// PartsOf returns the parts of a Quantity that objects may share, at a place without an address: its layout is
// known, and its number fits into an integer with a scale. Copies of a bigger one have their number in common, and
// methods write into it. String writes the text into the copy that it is called on, so the text stays as it is.
func PartsOf(q *resource.Quantity) (p *Parts, ok bool) {
	if !quantityKnown {
		return nil, false
	}
	p = (*Parts)(unsafe.Pointer(q))
	return p, p.big == nil
}

// quantityKnown reports whether a Quantity has the parts that this package knows.
var quantityKnown = hasParts(Quantity)

// hasParts reports whether a type has the layout of Parts, whose number and whose scale are in a struct
// of their own, as is the pointer.
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
