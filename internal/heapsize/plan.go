package heapsize

import (
	"reflect"
	"sync"
	"unsafe"
)

// plan lists the places in a value of a type that refer to other memory.
type plan struct {
	typ   reflect.Type
	parts []part
}

// part is a place in a value.
type part struct {
	offset uintptr
	kind   reflect.Kind // String, Slice, Pointer, Map or Interface
	typ    reflect.Type
	elem   *plan // of slices and pointers
}

// plans holds the plans by type. It is global because types are.
var plans sync.Map // reflect.Type -> *plan

// planOf returns the plan of a type.
func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	building.Lock()
	defer building.Unlock()

	return build(t, map[reflect.Type]*plan{})
}

// building is held while plans are made, so that no goroutine uses an incomplete plan.
var building sync.Mutex

// build makes the plans of a type and of all types in it, and stores them when the outermost
// plan is complete.
func build(t reflect.Type, under map[reflect.Type]*plan) *plan {
	outermost := len(under) == 0
	p := planIn(t, under)
	if outermost {
		for t, p := range under {
			plans.LoadOrStore(t, p)
		}
	}
	return p
}

func planIn(t reflect.Type, under map[reflect.Type]*plan) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	if p := under[t]; p != nil {
		return p
	}
	p := &plan{typ: t}
	under[t] = p
	p.add(0, t, under, false)
	return p
}

// add adds the places of a type at an offset.
//
// Unexported fields belong to their package: they may point at global memory that the package
// writes into at any time, such as the time zone of a time or the tables of protobuf's messages.
// A map written to during the walk would end the program. Of hidden fields only texts and slices
// of plain values count.
func (p *plan) add(offset uintptr, t reflect.Type, under map[reflect.Type]*plan, hidden bool) {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			p.add(offset+f.Offset, f.Type, under, hidden || !f.IsExported())
		}
	case reflect.Array:
		for i := range t.Len() {
			p.add(offset+uintptr(i)*t.Elem().Size(), t.Elem(), under, hidden) //nolint:gosec // an index
		}
	case reflect.String:
		p.parts = append(p.parts, part{offset, t.Kind(), t, nil})
	case reflect.Slice:
		if elem := planIn(t.Elem(), under); !hidden || len(elem.parts) == 0 {
			p.parts = append(p.parts, part{offset, t.Kind(), t, elem})
		}
	case reflect.Pointer:
		if !hidden {
			p.parts = append(p.parts, part{offset, t.Kind(), t, planIn(t.Elem(), under)})
		}
	case reflect.Map, reflect.Interface:
		if !hidden {
			p.parts = append(p.parts, part{offset, t.Kind(), t, nil})
		}
	}
}

// inside adds the memory that a value at an address refers to.
func (m *Meter) inside(at unsafe.Pointer, p *plan) {
	if m.depth++; m.depth <= deepest {
		m.parts(at, p)
	}
	m.depth--
}

func (m *Meter) parts(at unsafe.Pointer, p *plan) {
	for i := range p.parts {
		if m.left <= 0 {
			return
		}
		part := &p.parts[i]
		place := unsafe.Add(at, part.offset)
		switch part.kind {
		case reflect.String:
			s := *(*string)(place)
			m.text(unsafe.Pointer(unsafe.StringData(s)), uintptr(len(s)))
		case reflect.Slice:
			m.slice(place, part)
		case reflect.Pointer:
			if to := *(*unsafe.Pointer)(place); to != nil {
				m.block(to, part.typ.Elem().Size())
				m.inside(to, part.elem)
			}
		case reflect.Map:
			m.mapped(place, part.typ)
		case reflect.Interface:
			m.boxed(reflect.NewAt(part.typ, place).Elem())
		}
	}
}

// header is the memory layout of a slice.
type header struct {
	data     unsafe.Pointer
	len, cap int
}

func (m *Meter) slice(place unsafe.Pointer, part *part) {
	s := (*header)(place)
	size := part.typ.Elem().Size()
	m.block(s.data, uintptr(s.cap)*size) //nolint:gosec // a length
	if len(part.elem.parts) == 0 {
		return
	}
	for i := range s.len {
		m.inside(unsafe.Add(s.data, uintptr(i)*size), part.elem) //nolint:gosec // an index
	}
}

// mapped adds a map: its header, its groups of eight slots, and their contents.
func (m *Meter) mapped(place unsafe.Pointer, t reflect.Type) {
	v := reflect.NewAt(t, place).Elem()
	n := v.Len()
	at := *(*unsafe.Pointer)(place)
	if at == nil {
		return
	}
	slot := t.Key().Size() + t.Elem().Size()
	m.block(at, mapHeader)
	groups := groupsOf(n) * (8 + 8*slot)
	if n > 8 {
		groups += tableHeader
	}
	if n > 0 { // a map that was never written has none
		m.block(unsafe.Add(at, 1), groups) // a block of its own, whose address is unknown
	}
	key, value := planOf(t.Key()), planOf(t.Elem())
	if n == 0 || len(key.parts)+len(value.parts) == 0 {
		return
	}
	k, e := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
	for entries := v.MapRange(); entries.Next(); {
		k.SetIterKey(entries)
		e.SetIterValue(entries)
		m.inside(k.Addr().UnsafePointer(), key)
		m.inside(e.Addr().UnsafePointer(), value)
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
func (m *Meter) boxed(v reflect.Value) {
	if v.IsNil() {
		return
	}
	data := (*[2]unsafe.Pointer)(v.Addr().UnsafePointer())[1]
	t := v.Elem().Type()
	p := planOf(t)
	if direct(t) {
		m.inside(unsafe.Pointer(&data), p)
		return
	}
	if t.Size() > 8 || len(p.parts) > 0 { // small numbers are often Go's own
		m.block(data, t.Size())
	}
	m.inside(data, p)
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
