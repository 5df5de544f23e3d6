package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
)

// tested is the name under which the transformed tests import the package.
const tested = "testedpackage"

// written is a transformed file, with the lines of its units.
type written struct {
	name  string
	text  []byte
	lines []span
}

// span is the range of lines of a unit in a written file.
type span struct {
	first, last int
	unit        *unit
}

// write transforms the kept units of a file for a target.
func (s *source) write(f *file, t target, kept func(*unit) bool) written {
	imports := make(map[string]string) // path to name
	var body bytes.Buffer
	w := written{name: filepath.Base(f.name)}
	for _, u := range f.units {
		if !kept(u) {
			continue
		}
		first := bytes.Count(body.Bytes(), []byte("\n"))
		body.Write(s.rewrite(u, imports, t))
		body.WriteString("\n\n")
		w.lines = append(w.lines, span{first, bytes.Count(body.Bytes(), []byte("\n")), u})
	}
	for _, i := range f.ast.Imports {
		if path, _ := strconv.Unquote(i.Path.Value); i.Name != nil && i.Name.Name == "_" {
			imports[path] = "_"
		}
	}
	head := s.head(imports)
	for i := range w.lines {
		w.lines[i].first += bytes.Count(head, []byte("\n")) + 1
		w.lines[i].last += bytes.Count(head, []byte("\n")) + 1
	}
	w.text = append(head, body.Bytes()...)
	return w
}

// head returns the package clause and the imports.
func (s *source) head(imports map[string]string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "package %s_test\n\nimport (\n", s.pkg.Name)
	for _, path := range slices.Sorted(maps.Keys(imports)) {
		fmt.Fprintf(&b, "\t%s %q\n", imports[path], path)
	}
	b.WriteString(")\n\n")
	return b.Bytes()
}

// rewrite returns the text of a unit with the package's name before exported names of the package. It
// adds the packages that the text needs to imports.
func (s *source) rewrite(u *unit, imports map[string]string, t target) []byte {
	var out bytes.Buffer
	at, end := s.offset(u.decl), s.pkg.Fset.Position(u.decl.End()).Offset
	ast.Inspect(u.decl, func(n ast.Node) bool {
		if other := s.standIn(n); other != "" {
			imports[t.place(s.pkg.PkgPath)] = tested
			out.Write(u.file.text[at:s.offset(n)])
			out.WriteString(tested + "." + other)
			at = s.pkg.Fset.Position(n.End()).Offset
			return false
		}
		name, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		obj := s.pkg.TypesInfo.Uses[name]
		if pkg, ok := obj.(*types.PkgName); ok {
			imports[t.place(pkg.Imported().Path())] = pkg.Name()
		}
		if s.isPackages(obj) && obj.Parent() == s.pkg.Types.Scope() {
			imports[t.place(s.pkg.PkgPath)] = tested
			here := s.offset(name)
			out.Write(u.file.text[at:here])
			out.WriteString(tested + ".")
			at = here
			if other := byHand[name.Name]; t == tidemark && other != "" && u.returns(name) {
				out.WriteString(other)
				at += len(name.Name)
			}
		}
		return true
	})
	out.Write(u.file.text[at:end])
	return out.Bytes()
}

// byHand are result types with another name in this module, by their name in client-go.
// docs/migrating.md tells users to change them by hand.
var byHand = map[string]string{"Reflector": "StoreReflector"}

// returns reports whether a unit is a function and a name is part of its result list.
func (u *unit) returns(name *ast.Ident) bool {
	fn, ok := u.decl.(*ast.FuncDecl)
	return ok && fn.Type.Results != nil && fn.Type.Results.Pos() <= name.Pos() && name.Pos() < fn.Type.Results.End()
}

func (s *source) offset(n ast.Node) int { return s.pkg.Fset.Position(n.Pos()).Offset }
