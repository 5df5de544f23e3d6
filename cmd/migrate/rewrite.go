package main

import (
	"fmt"
	"go/ast"
	"slices"
	"strconv"
	"strings"
)

// rewritten is the result of rewriting a file.
type rewritten struct {
	text    []byte // nil if nothing has changed
	changes []note // the changes made so far
	left    []note // work left for a person, and the reasons
	again   []note // generated files, after which migrate must run again
}

func (r rewritten) changed() bool { return r.text != nil }

// rewrite changes a file of a program.
func rewrite(s *source) (r rewritten, err error) {
	w := &writer{edits: edits{source: s, added: make(map[string]string), gone: make(map[*imported]int)}}
	for _, i := range s.imports {
		w.imported(i)
	}
	w.controllerRuntime()
	w.options()
	w.transforms()
	if len(w.changes) > 0 {
		if w.text, err = w.apply(); err != nil {
			return r, err
		}
	}
	slices.SortStableFunc(w.changes, note.compare)
	slices.SortStableFunc(w.left, note.compare)
	return w.rewritten, nil
}

// note is a message about a place in a file.
type note struct {
	file string
	line int
	text string
}

func (n note) compare(other note) int { return n.line - other.line }

func (n note) String() string { return fmt.Sprintf("%s:%d: %s", n.file, n.line, n.text) }

// writer rewrites one file.
type writer struct {
	edits
	rewritten
}

func (w *writer) change(at ast.Node, what string) {
	w.changes = append(w.changes, w.note(at, what))
}

func (w *writer) leave(at ast.Node, why string) {
	w.left = append(w.left, w.note(at, why))
}

// imported rewrites an import, or its uses.
func (w *writer) imported(i *imported) {
	if to, ok := moved[i.path]; ok {
		w.replace(i.spec.Path.Pos(), i.spec.Path.End(), strconv.Quote(to))
		w.change(i.spec, i.path+" -> "+to)
		if w.generatedCode() && w.makesInformers(i) {
			w.again = append(w.again, w.note(i.spec, "the file is generated: run migrate again after each run of the generator"))
		}
		if i.path == toolsCache {
			w.reflectors()
		}
		return
	}
	if i.name == "." && hasEngine(i.path) {
		w.leave(i.spec, "functions of this package run client-go's informers: name the import, and run migrate again")
		return
	}
	for _, use := range i.uses {
		w.used(i, use)
	}
}

func (w *writer) makesInformers(i *imported) bool {
	for _, use := range i.uses {
		if runsEngine(i.path, use.Sel.Name) {
			return true
		}
	}
	return i.name == "."
}

// reflectors reports each use of the type Reflector, except in watch error handlers.
func (w *writer) reflectors() {
	ast.Inspect(w.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncType:
			return !endsInError(n.Params)
		case *ast.SelectorExpr:
			if n.Sel.Name == "Reflector" && w.packageOf(n) == toolsCache {
				w.leave(n, "NewReflector and similar functions return a *StoreReflector: use this type for their results")
			}
		}
		return true
	})
}

// used rewrites a use of a package that remains imported.
func (w *writer) used(i *imported, use *ast.SelectorExpr) {
	name := i.name + "." + use.Sel.Name
	if i.path == toolsWatch && runsEngine(i.path, use.Sel.Name) {
		w.leave(use, name+" runs an informer of client-go: make one with informer/cache, and add a handler that sends to a channel")
		return
	}
	c, ok := constructorOf(i.path, use.Sel.Name)
	call := w.calls[use]
	switch {
	case !ok && runsEngine(i.path, use.Sel.Name):
		w.leave(use, name+" makes accessors that run client-go's informers: make a factory of tidemark with WithNamespace and WithTweakListOptions, and use its accessors")
	case !ok:
	case c.typed:
		w.leave(use, name+" runs client-go's informer: use cache.NewTypedSharedIndexInformer over factory."+c.ours+"[*"+c.kind+"]")
	case call == nil || len(call.Args) == 1: // used as a value, or called with the results of another call
		w.leave(use, name+" cannot be replaced here: use a function that calls factory."+c.ours+"[*"+c.kind+"], which takes a namespace for all kinds")
	default:
		version := c.api[strings.LastIndex(c.api, "/")+1:]
		group := strings.TrimSuffix(c.api[len("k8s.io/api/"):], "/"+version)
		api := w.named(c.api, group+version, group+version+"api")
		to := w.named(ourFactory, "factory", "tidemark") + "." + c.ours + "[*" + api + "." + c.kind + "]"
		w.replace(use.Pos(), use.End(), to)
		if len(call.Args) == c.arguments()-1 {
			w.insert(call.Args[0].End(), `, ""`) // the constructor of a cluster-scoped kind takes no namespace
		}
		w.gone[i]++
		w.change(use, name+" -> "+to)
	}
}
