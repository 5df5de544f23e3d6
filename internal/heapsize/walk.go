package heapsize

import (
	"reflect"
	"unsafe"

	"github.com/tidemark-k8s/tidemark/internal/gotype"
)

// inside adds the memory that a value at an address refers to.
func (w *Weigher) inside(at unsafe.Pointer, t *gotype.Type) {
	if w.depth++; w.depth <= deepest {
		w.value(at, t, false)
	}
	w.depth--
}

// value adds the memory that a value refers to. A hidden one is in an unexported field, whose package
// may write at any time into what it points at; a map written to during the walk would end the program.
// Of hidden fields only texts and slices of plain values count.
func (w *Weigher) value(at unsafe.Pointer, t *gotype.Type, hidden bool) {
	if !t.Refers || w.left <= 0 {
		return
	}
	switch t.Kind {
	case reflect.Struct:
		for i := range t.Fields {
			f := &t.Fields[i]
			w.value(unsafe.Add(at, f.Offset), f.Type, hidden || !f.Exported)
		}
	case reflect.Array:
		for i := range t.Size / t.Elem.Size {
			w.value(unsafe.Add(at, i*t.Elem.Size), t.Elem, hidden)
		}
	case reflect.String:
		s := *(*string)(at)
		w.text(unsafe.Pointer(unsafe.StringData(s)), uintptr(len(s)))
	case reflect.Slice:
		if !hidden || !t.Elem.Refers {
			w.slice(at, t.Elem)
		}
	}
	if hidden {
		return
	}
	switch t.Kind {
	case reflect.Pointer:
		if to := *(*unsafe.Pointer)(at); to != nil {
			w.block(to, t.Elem.Size)
			w.inside(to, t.Elem)
		}
	case reflect.Map:
		w.mapped(at, t)
	case reflect.Interface:
		w.boxed(reflect.NewAt(t.Go, at).Elem())
	}
}

// header is the memory layout of a slice.
type header struct {
	data     unsafe.Pointer
	len, cap int
}

func (w *Weigher) slice(place unsafe.Pointer, elem *gotype.Type) {
	s := (*header)(place)
	w.block(s.data, uintptr(s.cap)*elem.Size) //nolint:gosec // a length
	if !elem.Refers {
		return
	}
	for i := range s.len {
		w.inside(unsafe.Add(s.data, uintptr(i)*elem.Size), elem) //nolint:gosec // an index
	}
}

// mapped adds a map: its header, its groups of eight slots, and their contents.
func (w *Weigher) mapped(place unsafe.Pointer, t *gotype.Type) {
	v := reflect.NewAt(t.Go, place).Elem()
	n := v.Len()
	at := *(*unsafe.Pointer)(place)
	if at == nil {
		return
	}
	slot := t.Key.Size + t.Elem.Size
	w.block(at, mapHeader)
	groups := groupsOf(n) * (8 + 8*slot)
	if n > 8 {
		groups += tableHeader
	}
	if n > 0 { // a map that was never written has none
		w.block(unsafe.Add(at, 1), groups) // a block of its own, whose address is unknown
	}
	if n == 0 || !t.Key.Refers && !t.Elem.Refers {
		return
	}
	k, e := reflect.New(t.Key.Go).Elem(), reflect.New(t.Elem.Go).Elem()
	for entries := v.MapRange(); entries.Next(); {
		k.SetIterKey(entries)
		e.SetIterValue(entries)
		w.inside(k.Addr().UnsafePointer(), t.Key)
		w.inside(e.Addr().UnsafePointer(), t.Elem)
	}
}

const (
	// mapHeader is the size of a map's header in Go 1.24 and later.
	mapHeader = 48
	// tableHeader is the size of each table of a map with more than eight entries, without its
	// groups.
	tableHeader = 40
)

// groupsOf returns the number of groups of eight slots of a map: a power of two, at most seven
// eighths full.
func groupsOf(entries int) uintptr {
	groups := uintptr(1)
	for entries > 8 && uintptr(entries)*8 > groups*8*7 { //nolint:gosec // a length
		groups *= 2
	}
	return groups
}

// boxed adds the value in an interface. A value other than a pointer has a block of its own.
func (w *Weigher) boxed(v reflect.Value) {
	if v.IsNil() {
		return
	}
	data := (*[2]unsafe.Pointer)(v.Addr().UnsafePointer())[1]
	t := gotype.Of(v.Elem().Type())
	if direct(t.Go) {
		w.inside(unsafe.Pointer(&data), t)
		return
	}
	if t.Size > 8 || t.Refers { // small numbers are often Go's own
		w.block(data, t.Size)
	}
	w.inside(data, t)
}

// direct reports whether an interface holds a value of a type directly, without a pointer to it.
func direct(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return true
	case reflect.Struct:
		return t.NumField() == 1 && direct(t.Field(0).Type)
	case reflect.Array:
		return t.Len() == 1 && direct(t.Elem())
	}
	return false
}
