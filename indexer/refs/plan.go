package refs

import (
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/tidemark-k8s/tidemark/internal/gotype"
)

// plan says where the references in the values of a type are.
type plan struct {
	typ    *gotype.Type
	elem   *plan // of a pointer, a slice, an array or a map
	fields []field
	names  []name
}

// field is a field of a struct with references in it.
type field struct {
	offset uintptr
	plan   *plan
}

// name is a field of a struct with the name of an object, and the sibling fields that describe that
// object.
type name struct {
	kind, group string // of the rule; no kind if the reference states it
	where       string // as in the rule

	text, namespace, writtenKind, apiGroup, apiVersion, inGroup, resource text
}

// place is a type, in a field with a rule or, without one, in any other.
type place struct {
	reflect.Type
	rule *rule
}

var plans gotype.Plans[place, plan]

func planOf(t reflect.Type) *plan { return plans.Of(place{Type: t}, compile) }

// compile makes a plan. It leaves out the fields without references, and those named status.
func compile(at place, p *plan, of func(place) *plan) {
	p.typ = gotype.Of(at.Type)
	if p.typ.Elem != nil {
		p.elem = of(place{p.typ.Elem.Go, at.rule})
		return
	}
	for i := range p.typ.Members {
		m := &p.typ.Members[i]
		rules := at.rules(m)
		for _, r := range rules {
			if isText(m.Type) {
				p.names = append(p.names, nameOf(r, p.typ, m))
			} else {
				p.fields = append(p.fields, field{offsetOf(p.typ, m), of(place{m.Type.Go, r})})
			}
		}
		if rules == nil && at.rule == nil && m.Name != status && leads(m.Type, make(map[*gotype.Type]bool)) {
			p.fields = append(p.fields, field{offsetOf(p.typ, m), of(place{Type: m.Type.Go})})
		}
	}
	for _, e := range unlisted(p.typ) {
		if at.rule != nil || leads(e.typ, make(map[*gotype.Type]bool)) {
			p.fields = append(p.fields, field{e.offset, of(place{e.typ.Go, at.rule})})
		}
	}
}

// embedded is an embedded field of a struct.
type embedded struct {
	offset uintptr
	typ    *gotype.Type
}

// unlisted returns the embedded fields of a struct whose own fields are no members of it, although JSON may
// reach them: pointers and types that are not exported, for instance.
func unlisted(t *gotype.Type) (all []embedded) {
	for i := range t.Fields {
		switch f, of := &t.Fields[i], t.Go.Field(i); {
		case !of.Anonymous || of.Tag.Get("json") == "-":
		case f.Inline && f.Exported && f.Type.Kind == reflect.Struct: // its fields are members
			for _, e := range unlisted(f.Type) {
				all = append(all, embedded{f.Offset + e.offset, e.typ})
			}
		case f.JSON == "" || f.JSON == f.Name: // any other name is a member's
			all = append(all, embedded{f.Offset, f.Type})
		}
	}
	return all
}

const status = "status"

// rules returns the rules for a member. A struct in a field with a rule has the name in its field "name".
func (at place) rules(m *gotype.Member) []*rule {
	switch {
	case at.rule == nil:
		return rulesOf(at.Type, m)
	case m.Name == "name":
		return []*rule{at.rule}
	}
	return nil
}

// leads reports whether values of a type may contain references. seen has the types that were
// examined before.
func leads(t *gotype.Type, seen map[*gotype.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	if t.Elem != nil {
		return leads(t.Elem, seen)
	}
	for i := range t.Members {
		if m := &t.Members[i]; m.Name != status && (rulesOf(t.Go, m) != nil || leads(m.Type, seen)) {
			return true
		}
	}
	return slices.ContainsFunc(unlisted(t), func(e embedded) bool { return leads(e.typ, seen) })
}

// rulesOf returns the rules for a member of a struct, by the struct itself, or by one embedded in it.
func rulesOf(t reflect.Type, m *gotype.Member) (rules []*rule) {
	for _, i := range m.Index {
		if rules = rulesFor(t, m.Name); rules != nil {
			break
		}
		t = t.Field(i).Type
	}
	return rules
}

func nameOf(r *rule, t *gotype.Type, m *gotype.Member) name {
	n := name{where: r.namespace, text: textOf(t, m.Name), namespace: textOf(t, r.namespace)}
	n.kind, n.group, _ = strings.Cut(r.kind, ".")
	if m.Name == "name" { // otherwise a kind is that of the whole object
		n.writtenKind, n.apiGroup, n.apiVersion = textOf(t, "kind"), textOf(t, "apiGroup"), textOf(t, "apiVersion")
		n.inGroup, n.resource = textOf(t, "group"), textOf(t, "resource")
	}
	return n
}

// offsetOf returns the offset of a member in a struct. The member may belong to a struct embedded in it.
func offsetOf(t *gotype.Type, m *gotype.Member) (offset uintptr) {
	in := t.Go
	for _, i := range m.Index {
		offset += in.Field(i).Offset
		in = in.Field(i).Type
	}
	return offset
}

// text is a field of a struct with a string or a pointer to a string. The zero value means no
// field.
type text struct {
	offset           uintptr
	known, isPointer bool
}

func isText(t *gotype.Type) bool {
	return t.Kind == reflect.String || t.Kind == reflect.Pointer && t.Elem.Kind == reflect.String
}

func textOf(t *gotype.Type, name string) text {
	for i := range t.Members {
		if m := &t.Members[i]; m.Name == name && isText(m.Type) {
			return text{offsetOf(t, m), true, m.Type.Kind == reflect.Pointer}
		}
	}
	return text{}
}

// of returns the string in the field of a struct, and false if there is none.
func (t text) of(p unsafe.Pointer) (s string, ok bool) {
	at := unsafe.Add(p, t.offset)
	switch {
	case !t.known:
		return "", false
	case !t.isPointer:
		return *(*string)(at), true
	}
	if to := *(**string)(at); to != nil {
		return *to, true
	}
	return "", false
}
