package sharepass

import (
	"maps"
	"reflect"
)

// place returns the replacement for a node's value, or the zero Value to keep the node's value. size is
// the size of the memory that only the replacement refers to. If whole is set, the result consists only
// of memory of the table and the pass, so that the table may keep it.
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

// copied returns a copy of a node's value with its shared parts. If no part is shared, it returns no
// copy, unless whole is set.
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

// putInto puts a value into the node's place in its parent.
func (n *node) putInto(parent, v reflect.Value) {
	switch parent.Kind() {
	case reflect.Pointer:
		at(parent.Elem(), n.path).Set(v)
	case reflect.Slice:
		at(parent.Index(n.elem), n.path).Set(v)
	default:
		parent.Interface().(map[string]any)[n.key] = v.Interface() // only untyped maps contain nodes
	}
}

// copyOf copies the struct, array or map that a reference refers to. It copies deeper values only if
// they have no nodes of their own, which is the case in the maps of typed objects.
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

// clone copies a value and everything that it refers to.
func clone(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	cloneBelow(c)
	return c
}

// cloneBelow replaces all memory that an addressable value refers to by copies, except in unexported
// fields. The unexported fields of times and Quantities refer to memory that never changes.
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

// sizeOf estimates the size of the memory that a pointer, slice or map refers to directly.
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
