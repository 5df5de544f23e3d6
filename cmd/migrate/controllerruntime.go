package main

import (
	"go/ast"
)

// managers are the constructors of controller-runtime that make a cache, with the place of
// the argument that has its options, and the field of those that has the cache's.
var managers = map[string]struct {
	function string
	argument int
	field    string // empty: the options are the cache's own
}{
	controllerRuntime:                  {"NewManager", 1, "Cache"},
	controllerRuntime + "/pkg/manager": {"New", 1, "Cache"},
	controllerRuntime + "/pkg/cluster": {"New", 1, ""}, // takes functions
	controllerRuntime + "/pkg/cache":   {"New", 1, ""},
}

const byHand = "set NewInformer: informer.ForControllerRuntime in the cache.Options by hand"

// controllerRuntime gives the caches of controller-runtime tidemark's informers.
func (w *writer) controllerRuntime() {
	ast.Inspect(w.file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if path, ok := w.managerOf(call); ok {
			w.manager(call, path)
		}
		return true
	})
}

// managerOf returns the package of the constructor that a call calls.
func (w *writer) managerOf(call *ast.CallExpr) (path string, ok bool) {
	use, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	for _, i := range w.imports {
		m, known := managers[i.path]
		if !known || use.Sel.Name != m.function {
			continue
		}
		for _, u := range i.uses {
			if u == use {
				return i.path, true
			}
		}
	}
	return "", false
}

func (w *writer) manager(call *ast.CallExpr, path string) {
	m := managers[path]
	options, ok := literalAt(call, m.argument)
	switch {
	case !ok:
		w.leave(call, "the options of this cache are not written here: "+byHand)
	case m.field == "":
		w.cacheOptions(options)
	default:
		w.managerOptions(options, m.field)
	}
}

func (w *writer) managerOptions(options *ast.CompositeLit, field string) {
	if field := fieldOf(options, "NewCache"); field != nil {
		w.leave(field, "NewCache makes a cache of its own: "+byHand)
		return
	}
	of := fieldOf(options, field)
	if of == nil {
		cache := w.named(controllerRuntime+"/pkg/cache", "cache", "crcache")
		w.insert(options.Lbrace+1, field+": "+cache+".Options{NewInformer: "+w.informer()+".ForControllerRuntime}"+after(options))
		w.change(options, "NewInformer: informer.ForControllerRuntime")
		return
	}
	if literal, ok := of.Value.(*ast.CompositeLit); ok {
		w.cacheOptions(literal)
		return
	}
	w.leave(of, "the options of this cache are not written here: "+byHand)
}

// cacheOptions sets NewInformer in a literal of cache.Options.
func (w *writer) cacheOptions(options *ast.CompositeLit) {
	if of := fieldOf(options, "NewInformer"); of != nil {
		if use, ok := of.Value.(*ast.SelectorExpr); !ok || use.Sel.Name != "ForControllerRuntime" {
			w.leave(of, "NewInformer is set already: see that it makes tidemark's informers")
		}
		return
	}
	w.insert(options.Lbrace+1, "NewInformer: "+w.informer()+".ForControllerRuntime"+after(options))
	w.change(options, "NewInformer: informer.ForControllerRuntime")
}

func (w *writer) informer() string { return w.named(ourInformer, "informer", "tidemarkinformer") }

// after is what follows a field that is inserted as a literal's first one.
func after(literal *ast.CompositeLit) string {
	if len(literal.Elts) == 0 {
		return ""
	}
	return ", "
}

func literalAt(call *ast.CallExpr, argument int) (*ast.CompositeLit, bool) {
	if len(call.Args) <= argument {
		return nil, false
	}
	literal, ok := call.Args[argument].(*ast.CompositeLit)
	return literal, ok
}

func fieldOf(literal *ast.CompositeLit, name string) *ast.KeyValueExpr {
	for _, e := range literal.Elts {
		if of, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := of.Key.(*ast.Ident); ok && key.Name == name {
				return of
			}
		}
	}
	return nil
}
