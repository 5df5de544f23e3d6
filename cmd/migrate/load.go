package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/build"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// program is the source code that matches the patterns.
type program struct {
	sources      []*source
	dependencies []*dependency // those that may run informers
	unread       []note        // files that cannot be read, and the errors
}

// dependency is a package imported by the program, directly or indirectly.
type dependency struct {
	path    string
	module  string // "" for the program's own module
	sources []*source
}

// load reads a program. If go list reports errors in a package, load still reads as much as possible.
func load(ctx context.Context, dir string, patterns []string) (*program, error) {
	dir, err := filepath.Abs(dir) // so that the go command names files as below does, if the folder is a symbolic link
	if err != nil {
		return nil, err
	}
	loaded, err := packages.Load(&packages.Config{
		Context: ctx, Dir: dir, Tests: true,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedModule,
	}, patterns...)
	if err != nil {
		return nil, err
	}
	l := &loader{files: make(map[string]bool), modules: make(map[string]bool), packages: make(map[string]bool)}
	failed := []error{fmt.Errorf("%w: %s", errNoFiles, strings.Join(patterns, " "))}
	for _, p := range loaded {
		if p.Module == nil && len(p.Errors) > 0 && p.Errors[0].Pos == "" { // no file imports it: it is a pattern
			return nil, fmt.Errorf("%w: %s: %s", errNoFiles, p.ID, p.Errors[0].Msg)
		}
		for _, e := range p.Errors {
			failed = append(failed, e)
		}
		l.own(p)
	}
	for _, pattern := range patterns {
		if err := l.below(dir, pattern); err != nil {
			return nil, err
		}
	}
	l.shareNames()
	packages.Visit(loaded, nil, l.dependency)
	slices.SortFunc(l.program.sources, func(a, b *source) int { return strings.Compare(a.name, b.name) })
	slices.SortFunc(l.program.dependencies, func(a, b *dependency) int { return cmp.Compare(a.path, b.path) })
	if len(l.program.sources) == 0 {
		return nil, errors.Join(failed...)
	}
	return &l.program, nil
}

type loader struct {
	program  program
	files    map[string]bool
	modules  map[string]bool // by folder; those with matching packages
	packages map[string]bool // by path; those read so far
}

// own reads the files of a package of the program, including files with other build tags.
func (l *loader) own(p *packages.Package) {
	if p.Module != nil && !p.Module.Main { // the pattern all also matches dependencies
		return
	}
	if p.Module != nil {
		l.modules[p.Module.Dir] = true
	}
	l.packages[p.PkgPath] = true
	for _, name := range slices.Concat(p.GoFiles, p.IgnoredFiles) {
		l.ownFile(name)
	}
}

func (l *loader) ownFile(name string) {
	if l.files[name] || !strings.HasSuffix(name, ".go") {
		return
	}
	l.files[name] = true
	if s := l.read(name); s != nil {
		l.program.sources = append(l.program.sources, s)
	}
}

// below reads the files below a folder for a pattern that ends in /..., because go list leaves out packages
// whose files all have other build tags.
func (l *loader) below(dir, pattern string) error {
	root, ok := strings.CutSuffix(pattern, "/...")
	if !ok || !build.IsLocalImport(root) {
		return nil
	}
	root = filepath.Join(dir, root) + string(filepath.Separator) // so that WalkDir follows a symbolic link
	if f, err := parseMod(filepath.Join(moduleOf(root), "go.mod")); err == nil && len(f.Ignore) > 0 {
		return fmt.Errorf("%s: %w", f.Syntax.Name, errIgnore)
	}
	return filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil { // then d may be nil
			return err
		}
		base := d.Name()
		hidden := strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")
		switch {
		case !d.IsDir() && !hidden:
			l.ownFile(name)
		case d.IsDir() && name != root && (hidden || base == "testdata" || base == "vendor" || isModule(name) && !l.modules[name]):
			return filepath.SkipDir
		}
		return nil
	})
}

func isModule(dir string) bool { return exists(filepath.Join(dir, "go.mod")) }

// moduleOf returns the folder of the module that a folder belongs to, or "".
func moduleOf(dir string) string {
	for !isModule(dir) {
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
	return dir
}

// shareNames reserves the names declared in a package in all of its files, so that no new import takes such a
// name.
func (l *loader) shareNames() {
	declared := make(map[string][]string)
	for _, s := range l.program.sources {
		dir := filepath.Dir(s.name)
		declared[dir] = slices.AppendSeq(declared[dir], s.declared())
	}
	for _, s := range l.program.sources {
		for _, name := range declared[filepath.Dir(s.name)] {
			s.names[name] = true
		}
	}
}

// dependency reads a package that may run informers.
func (l *loader) dependency(p *packages.Package) {
	if l.packages[p.PkgPath] || p.Module == nil || ownsItsEngine(p.Module.Path) || !usesEngine(p) {
		return
	}
	l.packages[p.PkgPath] = true
	d := &dependency{path: p.PkgPath}
	if !p.Module.Main {
		d.module = p.Module.Path + " " + p.Module.Version
	}
	for _, name := range p.GoFiles {
		if s := l.read(name); s != nil {
			d.sources = append(d.sources, s)
		}
	}
	l.program.dependencies = append(l.program.dependencies, d)
}

// ownsItsEngine reports whether the program is not responsible for the informers of a module. These modules
// are client-go, tidemark, and controller-runtime, which makes the informers that the program configures.
func ownsItsEngine(path string) bool {
	return path == clientGo || path == module || slices.Contains(nested, path) || path == controllerRuntime
}

func usesEngine(p *packages.Package) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(p.Imports)), hasEngine)
}

func (l *loader) read(name string) *source {
	text, err := os.ReadFile(name)
	if err == nil {
		var s *source
		if s, err = parse(name, text); err == nil {
			return s
		}
	}
	l.program.unread = append(l.program.unread, note{name, 1, fmt.Sprintf("cannot be read: %v", err)})
	return nil
}
