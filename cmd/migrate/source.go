package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"iter"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// source is one file of a program.
type source struct {
	name    string
	text    []byte
	set     *token.FileSet
	file    *ast.File
	imports []*imported
	byName  map[string]*imported
	calls   map[ast.Expr]*ast.CallExpr // by the called function
	names   map[string]bool            // names that a new import must not have
	locals  map[string]bool            // names that the file declares itself, at any level
}

// file is a file with its new text.
type file struct {
	name string
	text []byte
}

// writeFiles writes files. Existing files keep their modes.
func writeFiles(files []file) error {
	for _, f := range files {
		if err := os.WriteFile(f.name, f.text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// imported is an import of a file, and the uses of the package.
type imported struct {
	spec *ast.ImportSpec
	path string
	name string // the name of the package in this file; also "." or "_"
	uses []*ast.SelectorExpr
}

func parse(name string, text []byte) (*source, error) {
	s := &source{
		name: name, text: text, set: token.NewFileSet(), byName: make(map[string]*imported),
		calls: make(map[ast.Expr]*ast.CallExpr), names: make(map[string]bool), locals: make(map[string]bool),
	}
	file, err := parser.ParseFile(s.set, name, text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	s.file = file
	for _, spec := range file.Imports {
		i := &imported{spec: spec, path: unquote(spec.Path.Value)}
		i.name = packageName(i.path)
		if spec.Name != nil {
			i.name = spec.Name.Name
		}
		s.imports = append(s.imports, i)
		if known := s.byName[i.name]; known == nil || !hasEngine(known.path) { // the name of another package is a guess
			s.byName[i.name] = i
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			s.names[n.Name] = true
			s.locals[n.Name] = s.locals[n.Name] || n.Obj != nil
		case *ast.CallExpr:
			s.calls[n.Fun] = n
		case *ast.SelectorExpr:
			// Obj is set if the file declares the name itself.
			if x, ok := n.X.(*ast.Ident); ok && x.Obj == nil && s.byName[x.Name] != nil {
				i := s.byName[x.Name]
				i.uses = append(i.uses, n)
			}
		}
		return true
	})
	return s, nil
}

// declared returns the names that a file declares at package level.
func (s *source) declared() iter.Seq[string] { return maps.Keys(s.file.Scope.Objects) } //nolint:staticcheck // go/types would need the dependencies

func unquote(literal string) string {
	path, _ := strconv.Unquote(literal) // cannot fail: the literal was parsed
	return path
}

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// packageName guesses the name of a package from its path. It knows the names in the tables.
func packageName(p string) string {
	if p == controllerRuntime {
		return "controllerruntime"
	}
	name := path.Base(p)
	if majorVersion.MatchString(name) && !strings.HasPrefix(p, "k8s.io/") { // in Kubernetes' modules, v1 is a package
		name = path.Base(path.Dir(p))
	}
	return strings.TrimPrefix(strings.TrimSuffix(name, ".go"), "go-")
}

// generatedCode reports whether a generator wrote the file.
func (s *source) generatedCode() bool { return ast.IsGenerated(s.file) }

func (s *source) isTest() bool { return strings.HasSuffix(s.name, "_test.go") }

func (s *source) note(at ast.Node, text string) note {
	p := s.set.Position(at.Pos())
	return note{p.Filename, p.Line, text}
}

// importOf returns the import of a package that has a usable name, or nil.
func (s *source) importOf(path string) *imported {
	for _, i := range s.imports {
		if i.path == path && i.name != "_" && i.name != "." {
			return i
		}
	}
	return nil
}

// mentions reports whether a file uses a name of a package.
func (s *source) mentions(path, name string) bool {
	i := s.importOf(path)
	return i != nil && slices.ContainsFunc(i.uses, func(use *ast.SelectorExpr) bool { return use.Sel.Name == name })
}

// edit replaces a range of bytes in a file.
type edit struct {
	from, to int
	text     string
}

// edits collects the edits of a file.
type edits struct {
	*source
	all   []edit
	added map[string]string // names of the imports to add, by path
	gone  map[*imported]int // number of replaced uses of an import
}

func (e *edits) replace(from, to token.Pos, text string) {
	e.all = append(e.all, edit{e.set.Position(from).Offset, e.set.Position(to).Offset, text})
}

func (e *edits) insert(at token.Pos, text string) { e.replace(at, at, text) }

// named returns the name of a package in this file, and imports the package if necessary. It does not return a
// name that a declaration in the file may hide.
func (e *edits) named(path string, names ...string) string {
	if i := e.importOf(path); i != nil && !e.locals[i.name] {
		return i.name
	}
	if name, ok := e.added[path]; ok {
		return name
	}
	for _, name := range names {
		if !e.names[name] {
			e.added[path] = name
			e.names[name] = true
			return name
		}
	}
	return e.named(path, names[len(names)-1]+"_")
}

// apply returns the file with its edits. The result is formatted if the file was formatted before.
func (e *edits) apply() ([]byte, error) {
	e.editImports()
	slices.SortStableFunc(e.all, func(a, b edit) int { return a.from - b.from })
	var out bytes.Buffer
	at := 0
	for _, x := range e.all {
		out.Write(e.text[at:x.from])
		out.WriteString(x.text)
		at = x.to
	}
	out.Write(e.text[at:])
	formatted, err := format.Source(out.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errFormat, err)
	}
	if was, err := format.Source(e.text); err != nil || !bytes.Equal(was, e.text) {
		return out.Bytes(), nil
	}
	return formatted, nil
}

// editImports adds the new imports, and removes those that are no longer used.
func (e *edits) editImports() {
	var lines []string
	for path, name := range e.added {
		line := strconv.Quote(path)
		if name != packageName(path) {
			line = name + " " + line
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	for _, i := range e.imports {
		if e.gone[i] == 0 || e.gone[i] < len(i.uses) {
			continue
		}
		if d := e.declarationOf(i.spec); !d.Lparen.IsValid() {
			e.replace(d.Pos(), i.spec.End(), "")
			continue
		}
		e.replace(i.spec.Pos(), i.spec.End(), strings.Join(lines, "\n\t"))
		lines = nil
	}
	if len(lines) == 0 {
		return
	}
	last := e.imports[len(e.imports)-1].spec
	if d := e.declarationOf(last); d.Lparen.IsValid() {
		e.insert(d.Rparen, "\t"+strings.Join(lines, "\n\t")+"\n")
		return
	}
	for _, line := range lines {
		e.insert(last.End(), "\nimport "+line)
	}
}

// declarationOf returns the declaration that contains an import.
func (s *source) declarationOf(spec *ast.ImportSpec) *ast.GenDecl {
	for _, d := range s.file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && slices.Contains(g.Specs, ast.Spec(spec)) {
			return g
		}
	}
	panic("migrate: an import outside of all declarations")
}
