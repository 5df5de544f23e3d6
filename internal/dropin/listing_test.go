package dropin

import (
	"cmp"
	"fmt"
	"go/token"
	"go/types"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A listing is the exported API of packages, one declaration per line. It has no parameter names.
//
//	pkg informer, type Status struct, Objects int
//	pkg informer, method (*Informer[T]) Status() informer.Status
type listing struct {
	lines []string
	inner map[string]string // the public names of internal packages' types
}

// listingOf returns the sorted lines of packages.
func listingOf(all map[string]*types.Package) []string {
	l := listing{inner: map[string]string{}}
	for _, path := range slices.Sorted(maps.Keys(all)) {
		p := all[path]
		for _, name := range p.Scope().Names() {
			if token.IsExported(name) {
				l.object(p, p.Scope().Lookup(name))
			}
		}
	}
	for i, line := range l.lines {
		l.lines[i] = innerType.ReplaceAllStringFunc(line, func(name string) string { return cmp.Or(l.inner[name], name) })
	}
	slices.Sort(l.lines)
	return l.lines
}

// innerType matches the name of a type in an internal package.
var innerType = regexp.MustCompile(`[\w/]+/internal/\w+\.\w+`)

func isInternal(p *types.Package) bool {
	return p != nil && slices.Contains(strings.Split(p.Path(), "/"), "internal")
}

func (l *listing) add(p *types.Package, format string, args ...any) {
	l.lines = append(l.lines, "pkg "+shortPath(p)+", "+fmt.Sprintf(format, args...))
}

func (l *listing) object(p *types.Package, o types.Object) {
	switch o := o.(type) {
	case *types.Const:
		l.add(p, "const %s %s = %s", o.Name(), spell(o.Type()), o.Val().ExactString())
	case *types.Var:
		l.add(p, "var %s %s", o.Name(), spell(o.Type()))
	case *types.Func:
		l.add(p, "func %s%s", o.Name(), spellFunc(o.Signature()))
	case *types.TypeName:
		l.typeName(p, o)
	}
}

func (l *listing) typeName(p *types.Package, o *types.TypeName) {
	switch t := o.Type().(type) {
	case *types.Alias:
		if inner, ok := types.Unalias(t).(*types.Named); ok && isInternal(inner.Obj().Pkg()) { // users can use its members
			l.inner[shortPath(inner.Obj().Pkg())+"."+inner.Obj().Name()] = shortPath(p) + "." + o.Name()
			l.defined(p, o.Name(), inner)
			l.methods(p, inner)
			return
		}
		l.add(p, "type %s%s = %s", o.Name(), spellParams(t.TypeParams()), spell(t.Rhs()))
	case *types.Named:
		l.defined(p, o.Name()+spellParams(t.TypeParams()), t)
		l.methods(p, t)
	}
}

func (l *listing) defined(p *types.Package, name string, t *types.Named) {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		l.add(p, "type %s struct", name)
		l.fields(p, name, u)
	case *types.Interface:
		l.add(p, "type %s interface { %s }", name, spellInterface(u))
		for m := range u.Methods() {
			if m.Exported() {
				l.add(p, "type %s interface, %s%s", name, m.Name(), spellFunc(m.Signature()))
			}
		}
	default:
		l.add(p, "type %s %s", name, spell(u))
	}
}

// fields lists the fields of a struct, and those promoted from an embedded unexported struct.
func (l *listing) fields(p *types.Package, name string, s *types.Struct) {
	for f := range s.Fields() {
		inner, isStruct := f.Type().Underlying().(*types.Struct)
		switch {
		case f.Exported() && f.Embedded():
			l.add(p, "type %s struct, embedded %s", name, spell(f.Type()))
		case f.Exported():
			l.add(p, "type %s struct, %s %s", name, f.Name(), spell(f.Type()))
		case f.Embedded() && isStruct:
			l.fields(p, name, inner)
		}
	}
}

// methods lists the methods of a type that is not an interface, including promoted ones.
func (l *listing) methods(p *types.Package, t *types.Named) {
	if types.IsInterface(t) {
		return
	}
	byValue := types.NewMethodSet(t)
	for m := range types.NewMethodSet(types.NewPointer(t)).Methods() {
		if !m.Obj().Exported() {
			continue
		}
		receiver := t.Obj().Name() + spellNames(t.TypeParams())
		if byValue.Lookup(m.Obj().Pkg(), m.Obj().Name()) == nil {
			receiver = "*" + receiver
		}
		l.add(p, "method (%s) %s%s", receiver, m.Obj().Name(), spellFunc(m.Type().(*types.Signature)))
	}
}

// spellInterface writes the method names of an interface. A new method changes the line, because
// implementations need it, too. The line also says whether the interface is sealed or a constraint.
func spellInterface(i *types.Interface) string {
	var parts []string
	for m := range i.Methods() {
		if !m.Exported() {
			return "unexported methods"
		}
		parts = append(parts, m.Name())
	}
	for e := range i.EmbeddedTypes() {
		if !i.IsMethodSet() {
			parts = append(parts, spell(e))
		}
	}
	return strings.Join(parts, ", ")
}

// spell writes a type. It names packages of this module by their path in the module, and others by the
// last two elements of their path.
func spell(t types.Type) string {
	switch t := t.(type) {
	case *types.Signature:
		return "func" + spellFunc(t)
	case *types.Pointer:
		return "*" + spell(t.Elem())
	case *types.Slice:
		return "[]" + spell(t.Elem())
	case *types.Map:
		return "map[" + spell(t.Key()) + "]" + spell(t.Elem())
	}
	return strings.ReplaceAll(types.TypeString(t, shortPath), "interface{}", "any")
}

// spellFunc writes the parameters and results of a function, without names.
func spellFunc(s *types.Signature) string {
	results := spellTuple(s.Results(), false)
	if s.Results().Len() > 1 {
		results = "(" + results + ")"
	}
	text := spellParams(s.TypeParams()) + "(" + spellTuple(s.Params(), s.Variadic()) + ") " + results
	return strings.TrimSpace(text)
}

func spellTuple(tuple *types.Tuple, variadic bool) string {
	var parts []string
	for v := range tuple.Variables() {
		parts = append(parts, spell(v.Type()))
	}
	if last := len(parts) - 1; variadic {
		parts[last] = "..." + strings.TrimPrefix(parts[last], "[]")
	}
	return strings.Join(parts, ", ")
}

func spellParams(list *types.TypeParamList) string {
	return spellList(list, func(p *types.TypeParam) string { return p.Obj().Name() + " " + spell(p.Constraint()) })
}

func spellNames(list *types.TypeParamList) string {
	return spellList(list, func(p *types.TypeParam) string { return p.Obj().Name() })
}

func spellList(list *types.TypeParamList, spell func(*types.TypeParam) string) string {
	var parts []string
	for p := range list.TypeParams() {
		parts = append(parts, spell(p))
	}
	if parts == nil {
		return ""
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// shortPath returns the path of a package in this module, or the last two elements of another path.
func shortPath(p *types.Package) string {
	if p == nil {
		return ""
	}
	if ours, ok := strings.CutPrefix(p.Path(), module+"/"); ok {
		return ours
	}
	parts := strings.Split(p.Path(), "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

// subject returns the name that a line declares, such as informer.Status or informer.Status.Objects.
func subject(line string) string {
	pkg, declaration, _ := strings.Cut(strings.TrimPrefix(line, "pkg "), ", ")
	pkg = pkg[strings.LastIndex(pkg, "/")+1:]
	sort, rest, _ := strings.Cut(declaration, " ")
	name := leading(strings.TrimLeft(rest, "(*"))
	if sort == "method" {
		_, method, _ := strings.Cut(rest, ") ")
		return pkg + "." + name + "." + leading(method)
	}
	for _, mark := range []string{" struct, ", " interface, "} {
		if _, member, ok := strings.Cut(rest, mark); ok {
			return pkg + "." + name + "." + memberName(member)
		}
	}
	return pkg + "." + name
}

// memberName returns the name of a field or of an interface's method. An embedded field has the name of
// its type.
func memberName(member string) string {
	of, embedded := strings.CutPrefix(member, "embedded ")
	if !embedded {
		return leading(member)
	}
	of = leading(strings.TrimPrefix(of, "*"))
	return of[strings.LastIndex(of, ".")+1:]
}

// leading returns the identifier at the beginning of a text.
func leading(text string) string {
	end := strings.IndexFunc(text, func(r rune) bool { return strings.ContainsRune(" ()[*,=", r) })
	if end < 0 {
		return text
	}
	return text[:end]
}
