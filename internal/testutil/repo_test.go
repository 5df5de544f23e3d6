package testutil_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"iter"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	module = "github.com/tidemark-k8s/tidemark"
	root   = "../.." // the module's root, relative to this package
)

// A source is one parsed Go file.
type source struct {
	path string // relative to the module's root, with slashes
	fset *token.FileSet
	file *ast.File
}

// repository parses all Go files except for the modules of internal/e2e. All tests of this package use
// it. Since this process opens the files, go test notices when a cached result is out of date.
func repository(t *testing.T) []*source {
	t.Helper()
	var all []*source
	tree := os.DirFS(root)
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || name == "internal/e2e"):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		all = append(all, parse(t, name, string(text)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("no Go files found")
	}
	return all
}

// parse makes a source from a file's text. If the text is not valid Go, it marks the test as failed, and
// returns the part that it could parse.
func parse(t *testing.T, name, text string) *source {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Errorf("not Go: %v", err)
	}
	return &source{path: name, fset: fset, file: file}
}

// folder is the path of the source's package, relative to the module's root.
func (s *source) folder() string { return path.Dir(s.path) }

func (s *source) base() string { return path.Base(s.path) }

func (s *source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

// isLibrary reports whether users can import the source's package.
func (s *source) isLibrary() bool {
	return s.file.Name.Name != "main" && !slices.Contains(strings.Split(s.folder(), "/"), "internal")
}

// problem formats a problem at a position.
func (s *source) problem(at token.Pos, format string, args ...any) string {
	return fmt.Sprintf("%s:%d: %s", s.path, s.fset.Position(at).Line, fmt.Sprintf(format, args...))
}

// imports yields the source's import paths.
func (s *source) imports() iter.Seq2[string, *ast.ImportSpec] {
	return func(yield func(string, *ast.ImportSpec) bool) {
		for _, spec := range s.file.Imports {
			if p, err := strconv.Unquote(spec.Path.Value); err == nil && !yield(p, spec) {
				return
			}
		}
	}
}

// A use is a mention of a name of an imported package. A dot import is a use of the name ".", because
// its names look like the file's own.
type use struct {
	pkg, name string
	at        token.Pos
}

// uses yields the uses in the source. It finds the package of a qualifier among the imports. If an
// import has no alias, the last element of the path is taken as the package's name, which is correct for
// all packages that these tests look for.
func (s *source) uses() iter.Seq[use] {
	return func(yield func(use) bool) {
		names := map[string]string{}
		for p, spec := range s.imports() {
			switch {
			case spec.Name == nil:
				names[path.Base(p)] = p
			case spec.Name.Name != ".":
				names[spec.Name.Name] = p
			case !yield(use{p, ".", spec.Pos()}):
				return
			}
		}
		for n := range ast.Preorder(s.file) {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				continue
			}
			qualifier, ok := sel.X.(*ast.Ident)
			if !ok {
				continue
			}
			if p, ok := names[qualifier.Name]; ok && !yield(use{p, sel.Sel.Name, sel.Pos()}) {
				return
			}
		}
	}
}

// within reports whether a path equals the pattern, or is below it if the pattern ends in "/...".
func within(pattern, p string) bool {
	below, open := strings.CutSuffix(pattern, "/...")
	return p == below || open && strings.HasPrefix(p, below+"/")
}

// withinAny reports whether a path is within at least one of the patterns.
func withinAny(patterns []string, p string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return within(pattern, p) })
}

// report fails the test with each problem.
func report(t *testing.T, problems []string) {
	t.Helper()
	for _, p := range problems {
		t.Error(p)
	}
}

// A snippet is a source for the test of a rule.
type snippet struct {
	name string // the name of the case
	path string
	text string
	want string // part of the expected problem; empty for none
}

// try runs a check on each snippet.
func try(t *testing.T, snippets []snippet, check func([]*source) []string) {
	t.Helper()
	for _, s := range snippets {
		t.Run(s.name, func(t *testing.T) {
			expect(t, check([]*source{parse(t, s.path, s.text)}), s.want)
		})
	}
}

// expect fails the test unless there is exactly one problem, which contains want, or no problem if want
// is empty.
func expect(t *testing.T, problems []string, want string) {
	t.Helper()
	switch {
	case want == "" && len(problems) > 0:
		t.Errorf("unexpected: %q", problems)
	case want != "" && (len(problems) != 1 || !strings.Contains(problems[0], want)):
		t.Errorf("got %q, want one problem that contains %q", problems, want)
	}
}

func TestUsesFollowImportAliases(t *testing.T) {
	s := parse(t, "x.go", `package x
import (
	"errors"
	. "fmt"
	kc "k8s.io/client-go/tools/cache"
)
var a = errors.New
func f(r struct{ New int }) { kc.NewStore(nil); _ = r.New; other.New() }
`)
	var got []string
	for u := range s.uses() {
		got = append(got, u.pkg+" "+u.name)
	}
	want := []string{"fmt .", "errors New", "k8s.io/client-go/tools/cache NewStore"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"a/b", "a/b", true},
		{"a/b", "a/b/c", false},
		{"a/b/...", "a/b", true},
		{"a/b/...", "a/b/c", true},
		{"a/b/...", "a/bc", false},
	} {
		if within(c.pattern, c.path) != c.want {
			t.Errorf("within(%q, %q) is %v", c.pattern, c.path, !c.want)
		}
	}
}
