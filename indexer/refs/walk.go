package refs

import (
	"reflect"
	"strings"
	"unsafe"
)

// each calls yield with the references in a value.
func each(namespace string, v any, yield func(Ref)) {
	at := reflect.ValueOf(v)
	switch {
	case !at.IsValid() || at.Kind() == reflect.Pointer && at.IsNil():
		return
	case at.Kind() != reflect.Pointer:
		at = copied(at)
	}
	planOf(at.Type().Elem()).walk(at.UnsafePointer(), namespace, yield)
}

// copied returns a pointer to a copy of a value, which may have no address.
func copied(v reflect.Value) reflect.Value {
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return p
}

// walk calls yield with the references in the value at an address.
func (p *plan) walk(at unsafe.Pointer, namespace string, yield func(Ref)) {
	switch p.typ.Kind {
	case reflect.Pointer:
		if to := *(*unsafe.Pointer)(at); to != nil {
			p.elem.walk(to, namespace, yield)
		}
	case reflect.Slice:
		s := *(*[]struct{})(at)
		p.walkAll(unsafe.Pointer(unsafe.SliceData(s)), len(s), namespace, yield)
	case reflect.Array:
		p.walkAll(at, p.typ.Go.Len(), namespace, yield)
	case reflect.Map:
		for m := reflect.NewAt(p.typ.Go, at).Elem().MapRange(); m.Next(); {
			p.elem.walk(copied(m.Value()).UnsafePointer(), namespace, yield)
		}
	case reflect.Struct:
		for i := range p.names {
			if r, ok := p.names[i].read(at, namespace); ok {
				yield(r)
			}
		}
		for _, f := range p.fields {
			f.plan.walk(unsafe.Add(at, f.offset), namespace, yield)
		}
	}
}

// walkAll walks through consecutive elements.
func (p *plan) walkAll(first unsafe.Pointer, n int, namespace string, yield func(Ref)) {
	for i := range n {
		p.elem.walk(unsafe.Add(first, uintptr(i)*p.elem.typ.Size), namespace, yield) //nolint:gosec // not negative
	}
}

// read returns the reference in a struct. It returns false if there is no name or kind, or if the
// kind is not the rule's.
func (n *name) read(at unsafe.Pointer, namespace string) (r Ref, ok bool) {
	r = Ref{Group: n.group, Kind: n.kind, Namespace: namespace}
	if r.Name, _ = n.text.of(at); r.Name == "" {
		return r, false
	}
	if kind, _ := n.writtenKind.of(at); n.kind == written {
		r.Kind, r.Group = kind, n.writtenGroup(at)
	} else if kind != "" && kind != n.kind || n.ofOtherResource(at) {
		return r, false
	}
	if n.where == cluster {
		r.Namespace = ""
	} else if in, ok := n.namespace.of(at); in != "" || ok && n.kind == written && !n.namespace.isPointer {
		r.Namespace = in
	}
	return r, r.Kind != ""
}

// ofOtherResource reports whether a reference states a resource that is not the rule's kind's.
func (n *name) ofOtherResource(at unsafe.Pointer) bool {
	resource, ok := n.resource.of(at)
	group, _ := n.inGroup.of(at)
	return ok && (group != n.group || resource != strings.ToLower(n.kind)+"s")
}

// writtenGroup returns the group that a reference states.
func (n *name) writtenGroup(at unsafe.Pointer) string {
	if group, ok := n.apiGroup.of(at); ok {
		return group
	}
	version, _ := n.apiVersion.of(at)
	if group, _, ok := strings.Cut(version, "/"); ok {
		return group
	}
	return ""
}
