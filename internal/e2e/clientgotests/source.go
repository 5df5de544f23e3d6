package main

import (
	"errors"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// source is a package of client-go with its tests, cut into units.
type source struct {
	folder
	pkg   *packages.Package
	files []*file
	units []*unit
	owner map[types.Object]*unit // the units that declare the tests' objects

	broken map[string]string // the errors of test files that do not compile and are left out, by name
}

// file is a test file.
type file struct {
	name  string
	ast   *ast.File
	text  []byte
	units []*unit
}

// unit is a declaration in a test file that is kept or left out as a whole.
type unit struct {
	decl  ast.Decl
	file  *file
	names []types.Object
	needs map[*unit]bool
	kind  kind
	uses  use
}

// kind says whether a unit is a test, a benchmark or a helper.
type kind int

const (
	helper kind = iota
	aTest
	benchmark
)

// use says whether a unit uses something unexported.
type use int

const (
	exportedOnly use = iota
	unexported
)

const (
	loadMode = packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedForTest
)

var errNoTests = errors.New("no tests were found")

// load reads a package and its tests.
func load(f folder) (*source, error) {
	found, err := packages.Load(&packages.Config{Mode: loadMode, Tests: true}, clientgo+f.path)
	if err != nil {
		return nil, err
	}
	for _, p := range found {
		if p.ForTest != clientgo+f.path {
			continue
		}
		s := &source{folder: f, pkg: p, owner: make(map[types.Object]*unit), broken: make(map[string]string)}
		if err := s.findBroken(); err != nil {
			return nil, err
		}
		if err := s.cut(); err != nil || len(s.files)+len(s.broken) > 0 { // the tests are in the package or in an external test package
			return s, err
		}
	}
	return nil, errNoTests
}

// findBroken finds the test files that do not compile. It returns an error in any other file. A failing
// import is an error of the first file that has it.
func (s *source) findBroken() error {
	for _, e := range s.pkg.Errors {
		name, _, _ := strings.Cut(e.Pos, ":")
		if !isTestFile(name) {
			return e
		}
		s.broken[filepath.Base(name)] = e.Msg
	}
	for _, f := range s.pkg.Syntax {
		for _, i := range f.Imports {
			if name := s.pkg.TypesInfo.PkgNameOf(i); name != nil && !name.Imported().Complete() {
				s.broken[filepath.Base(s.pkg.Fset.Position(f.Pos()).Filename)] = "could not import " + i.Path.Value
			}
		}
	}
	return nil
}

// cut finds the units, and the units that each one needs.
func (s *source) cut() error {
	for _, syntax := range s.pkg.Syntax {
		name := s.pkg.Fset.Position(syntax.Pos()).Filename
		if !isTestFile(name) || s.broken[filepath.Base(name)] != "" {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		f := &file{name: name, ast: syntax, text: text}
		s.files = append(s.files, f)
		for _, d := range syntax.Decls {
			s.add(f, d)
		}
	}
	for _, u := range s.units {
		s.examine(u)
	}
	s.spread(func(u *unit) bool { return u.uses == unexported }, func(u, _ *unit) { u.uses = unexported })
	return nil
}

func isTestFile(name string) bool { return strings.HasSuffix(name, "_test.go") }

// add adds a declaration as a unit, unless it is an import.
func (s *source) add(f *file, d ast.Decl) {
	if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
		return
	}
	u := &unit{decl: d, file: f, needs: make(map[*unit]bool)}
	if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
		u.kind = kindOf(fn.Name.Name)
	}
	for _, name := range declared(d) {
		if obj := s.pkg.TypesInfo.Defs[name]; obj != nil {
			u.names = append(u.names, obj)
			s.owner[obj] = u
		}
	}
	f.units, s.units = append(f.units, u), append(s.units, u)
}

func kindOf(name string) kind {
	switch {
	case name == "TestMain":
		return helper
	case strings.HasPrefix(name, "Test"), strings.HasPrefix(name, "Fuzz"):
		return aTest
	case strings.HasPrefix(name, "Benchmark"):
		return benchmark
	}
	return helper
}

// declared returns the names of packages and methods that a declaration declares.
func declared(d ast.Decl) (names []*ast.Ident) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return []*ast.Ident{d.Name}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, spec.Name)
			case *ast.ValueSpec:
				names = append(names, spec.Names...)
			}
		}
	}
	return names
}

// examine finds the units that a unit uses. A type needs its methods, because an interface may need
// them.
func (s *source) examine(u *unit) {
	ast.Inspect(u.decl, func(n ast.Node) bool {
		if s.standIn(n) != "" {
			return false
		}
		name, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		obj := origin(s.pkg.TypesInfo.Uses[name])
		if owner := s.owner[obj]; owner != nil && owner != u {
			u.needs[owner] = true
			if u.hasReceiver(name) {
				owner.needs[u] = true
			}
		}
		if s.isPackages(obj) && (!obj.Exported() || u.hasReceiver(name)) {
			u.uses = unexported
		}
		return true
	})
}

// standIns are the exported interfaces that replace unexported types. Most tests only convert to such a
// type and call methods of the interface.
var standIns = map[string]string{"sharedIndexInformer": "SharedIndexInformer"}

// standIn returns the interface that replaces a node if the node is a pointer to a type in standIns.
// Otherwise it returns "".
func (s *source) standIn(n ast.Node) string {
	star, ok := n.(*ast.StarExpr)
	if !ok {
		return ""
	}
	name, ok := star.X.(*ast.Ident)
	if !ok || !s.isPackages(s.pkg.TypesInfo.Uses[name]) {
		return ""
	}
	return standIns[name.Name]
}

// hasReceiver reports whether a name is part of the unit's receiver.
func (u *unit) hasReceiver(name *ast.Ident) bool {
	fn, ok := u.decl.(*ast.FuncDecl)
	return ok && fn.Recv != nil && fn.Recv.Pos() <= name.Pos() && name.Pos() < fn.Recv.End()
}

// origin returns the generic object of an instance.
func origin(obj types.Object) types.Object {
	switch obj := obj.(type) {
	case *types.Var:
		return obj.Origin()
	case *types.Func:
		return obj.Origin()
	}
	return obj
}

// isPackages reports whether an object is declared at package level by the package itself, not by its
// tests.
func (s *source) isPackages(obj types.Object) bool {
	if obj == nil || obj.Pkg() != s.pkg.Types || isTestFile(s.pkg.Fset.Position(obj.Pos()).Filename) {
		return false
	}
	v, ok := obj.(*types.Var)
	return obj.Parent() == s.pkg.Types.Scope() || ok && v.IsField() || isMethod(obj)
}

func isMethod(obj types.Object) bool {
	fn, ok := obj.(*types.Func)
	return ok && fn.Signature().Recv() != nil
}

// spread passes a property on to each unit that needs a unit with the property.
func (s *source) spread(has func(*unit) bool, give func(u, from *unit)) {
	for more := true; more; {
		more = false
		for _, u := range s.units {
			if has(u) {
				continue
			}
			needed := slices.Collect(maps.Keys(u.needs))
			if i := slices.IndexFunc(needed, has); i >= 0 {
				give(u, needed[i])
				more = true
			}
		}
	}
}

// all and fromOutside choose units.
func all(*unit) bool           { return true }
func fromOutside(u *unit) bool { return u.uses == exportedOnly }

// leaveOut permanently leaves out the units that do not compile in an external test package.
func (s *source) leaveOut(broken map[*unit]string) {
	for u := range broken {
		u.uses = unexported
	}
}

// tests counts the selected units that are tests.
func (s *source) tests(chosen func(*unit) bool) (n int) {
	for _, u := range s.units {
		if u.kind == aTest && chosen(u) {
			n++
		}
	}
	return n
}
