package main

import (
	"go/ast"
	"slices"
)

// managers are the constructors of controller-runtime that make a cache: the position of the
// argument with the options, and the field of the options with the cache's options.
var managers = map[string]struct {
	function string
	argument int
	field    string // empty: the options are the cache's own
}{
	controllerRuntime:                  {"NewManager", 1, "Cache"},
	controllerRuntime + "/pkg/manager": {"New", 1, "Cache"},
	controllerRuntime + "/pkg/cluster": {"New", 1, ""}, // its options are functions
	controllerRuntime + "/pkg/cache":   {"New", 1, ""},
}

const byHand = "set NewInformer: informer.ForControllerRuntime in the cache.Options by hand"

// controllerRuntime makes the caches of controller-runtime use tidemark's informers.
func (w *writer) controllerRuntime() {
	called := make(map[*ast.SelectorExpr]bool)
	ast.Inspect(w.file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if use, path, ok := w.managerOf(call.Fun); ok {
			called[use] = true
			w.manager(call, path)
		}
		return true
	})
	for _, i := range w.imports {
		for _, u := range i.uses {
			if _, _, ok := w.managerOf(u); ok && !called[u] {
				w.leave(u, "the options are passed by the caller of this value: "+byHand)
			}
		}
	}
}

// managerOf reports whether a function is one of the constructors, and of which package.
func (w *writer) managerOf(function ast.Expr) (use *ast.SelectorExpr, path string, ok bool) {
	use, ok = function.(*ast.SelectorExpr)
	if !ok {
		return nil, "", false
	}
	for _, i := range w.imports {
		if m, known := managers[i.path]; known && use.Sel.Name == m.function && slices.Contains(i.uses, use) {
			return use, i.path, true
		}
	}
	return nil, "", false
}

func (w *writer) manager(call *ast.CallExpr, path string) {
	m := managers[path]
	options, ok := literalAt(call, m.argument)
	switch {
	case !ok:
		w.leave(call, "the cache's options are not a literal in this call: "+byHand)
	case m.field == "":
		w.cacheOptions(options)
	default:
		w.managerOptions(options, m.field)
	}
}

func (w *writer) managerOptions(options *ast.CompositeLit, field string) {
	if field := fieldOf(options, "NewCache"); field != nil {
		w.leave(field, "NewCache makes the cache: "+byHand)
		return
	}
	of := fieldOf(options, field)
	if of == nil {
		cache := w.named(controllerRuntime+"/pkg/cache", "cache", "crcache")
		w.set(options, field+": "+cache+".Options{NewInformer: "+w.informer()+".ForControllerRuntime}")
		return
	}
	if literal, ok := of.Value.(*ast.CompositeLit); ok {
		w.cacheOptions(literal)
		return
	}
	w.leave(of, "the cache's options are not a literal in this call: "+byHand)
}

// cacheOptions sets NewInformer in a literal of cache.Options.
func (w *writer) cacheOptions(options *ast.CompositeLit) {
	if of := fieldOf(options, "NewInformer"); of != nil {
		if !makesOurs(of.Value) {
			w.leave(of, "NewInformer is already set: check that it makes tidemark's informers")
		}
		return
	}
	w.set(options, "NewInformer: "+w.informer()+".ForControllerRuntime")
}

// makesOurs reports whether a constructor is ForControllerRuntime, or ControllerRuntime{…}.NewInformer.
func makesOurs(constructor ast.Expr) bool {
	use, ok := constructor.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	if options, ok := use.X.(*ast.CompositeLit); ok {
		of, ok := options.Type.(*ast.SelectorExpr)
		return ok && of.Sel.Name == "ControllerRuntime" && use.Sel.Name == "NewInformer"
	}
	return use.Sel.Name == "ForControllerRuntime"
}

// set adds a field that sets NewInformer to a literal. It notes that, and the setting that belongs with it.
func (w *writer) set(options *ast.CompositeLit, field string) {
	switch {
	case len(options.Elts) > 0:
		field += ", "
	case w.source.set.Position(options.Lbrace).Line < w.source.set.Position(options.Rbrace).Line: // there may be comments
		field = "\n" + field + ","
	}
	w.insert(options.Lbrace+1, field)
	w.change(options, "NewInformer: informer.ForControllerRuntime")
	w.leave(options, "first call config.Wrap(reflector.Wire) on the rest.Config, after all other calls of Wrap, so that the informers decode the server's responses themselves")
}

func (w *writer) informer() string { return w.named(ourInformer, "informer", "tidemarkinformer") }

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
