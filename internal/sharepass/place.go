package sharepass

import (
	"maps"
	"reflect"
)

// place returns what is to be put in the place of a node's value, or the zero
// Value where it stays, and how much memory that takes which nothing else
// refers to. Whole means that all of the result must be memory of the table's
// or of the pass's own making, so that it may be kept.
func (p *Pass) place(i int, whole bool) (v reflect.Value, size int) {
	n := &p.walk.nodes[i]
	encoded := p.walk.buf[n.start:n.end]
	if n.apart {
		return p.copied(i, whole)
	}
	found, mark := p.table.Find(n.site, encoded)
	if found != nil {
		return reflect.ValueOf(found), 0
	}
	v, size = p.copied(i, whole || mark.Wanted())
	if mark.Wanted() {
		p.table.Keep(mark, n.site, encoded, v.Interface(), size)
		size = 0
	}
	return v, size
}

// copied returns a copy of a node's value that holds what is shared of its
// parts. Where none is, and the copy need not be whole, there is no copy.
func (p *Pass) copied(i int, whole bool) (own reflect.Value, size int) {
	n := &p.walk.nodes[i]
	if whole {
		own = copyOf(n.value)
	}
	size = n.end - n.start + sizeOf(n.value)
	for c := i + 1; c < n.next; c = p.walk.nodes[c].next {
		v, more := p.place(c, whole)
		if !v.IsValid() {
			continue
		}
		if !own.IsValid() {
			own = copyOf(n.value)
		}
		p.walk.nodes[c].putInto(own, v)
		size += more
	}
	return own, size
}

// putInto puts a value where a node lies in its parent.
func (n *node) putInto(parent, v reflect.Value) {
	switch parent.Kind() {
	case reflect.Pointer:
		at(parent.Elem(), n.path).Set(v)
	case reflect.Slice:
		at(parent.Index(n.elem), n.path).Set(v)
	default:
		parent.Interface().(map[string]any)[n.key] = v.Interface() // only these maps have nodes below
	}
}

// copyOf copies what a pointer, slice or map refers to. What lies below is
// copied where it has no nodes of its own: in the maps of typed objects.
func copyOf(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		c := reflect.New(v.Type().Elem())
		c.Elem().Set(v.Elem())
		return c
	case reflect.Slice:
		c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(c, v)
		return c
	}
	if m, ok := v.Interface().(map[string]any); ok {
		return reflect.ValueOf(maps.Clone(m))
	}
	c := reflect.MakeMapWithSize(v.Type(), v.Len())
	for k, e := range v.Seq2() {
		c.SetMapIndex(k, clone(e))
	}
	return c
}

// clone copies a value and all that it refers to.
func clone(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	cloneBelow(c)
	return c
}

// cloneBelow replaces all that an addressable value refers to by copies. Private
// fields, those of times and Quantities, refer to nothing that changes.
func cloneBelow(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Map:
		if !v.IsNil() {
			v.Set(copyOf(v))
		}
		if v.Kind() == reflect.Pointer && !v.IsNil() {
			cloneBelow(v.Elem())
		}
	case reflect.Slice:
		if !v.IsNil() {
			v.Set(copyOf(v))
		}
		for i := range v.Len() {
			cloneBelow(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				cloneBelow(v.Field(i))
			}
		}
	}
}

// sizeOf estimates the memory that a pointer, slice or map refers to itself.
func sizeOf(v reflect.Value) int {
	t := v.Type()
	switch t.Kind() {
	case reflect.Pointer:
		return int(t.Elem().Size())
	case reflect.Slice:
		return v.Len() * int(t.Elem().Size())
	default:
		const header = 48
		return header + v.Len()*int(t.Key().Size()+t.Elem().Size()+1)
	}
}
