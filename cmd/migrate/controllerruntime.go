package main

import "go/ast"

// The functions of controller-runtime that make a manager, and those that make a cache without a manager.
var (
	managers = map[string]string{controllerRuntime: "NewManager", controllerRuntime + "/pkg/manager": "New"}
	caches   = map[string]string{controllerRuntime + "/pkg/cluster": "New", controllerRuntime + "/pkg/cache": "New"}
)

// toCheck has fields of controller-runtime's Options that a person must check, with instructions, by package
// and field name.
var toCheck = map[string]map[string]string{
	controllerRuntime:                  {"NewCache": checkNewCache},
	controllerRuntime + "/pkg/manager": {"NewCache": checkNewCache},
	controllerRuntime + "/pkg/cluster": {"NewCache": checkNewCache},
	controllerRuntime + "/pkg/cache": {
		"NewInformer": "NewManager and Use set NewInformer, and refuse any other: remove it",
		"HTTPClient":  "NewManager and Use refuse an HTTPClient, which would bypass the config's transport: remove it, or set the config's Transport",
	},
}

const checkNewCache = "NewCache makes the cache: check that it passes on its options, which contain tidemark's NewInformer"

// controllerRuntime replaces the functions that make managers by tidemark's NewManager, and reports caches
// without a manager.
func (w *writer) controllerRuntime() {
	for _, i := range w.imports {
		for _, use := range i.uses {
			switch use.Sel.Name {
			case managers[i.path]:
				w.manager(i, use)
			case caches[i.path]:
				w.cache(use)
			}
		}
	}
}

func (w *writer) manager(i *imported, use *ast.SelectorExpr) {
	name := i.name + "." + use.Sel.Name
	if w.calls[use] == nil {
		w.leave(use, name+" is not called here: use a function that calls NewManager of tidemark's package controllerruntime")
		return
	}
	to := w.named(ourControllerRuntime, "controllerruntime", "tidemarkruntime") + ".NewManager"
	w.replace(use.Pos(), use.End(), to)
	w.gone[i]++
	w.change(use, name+" -> "+to)
}

// options reports fields of options that a person must check. It reads all literals of options in the file,
// because another function may make the options of a manager. It does not read assignments.
func (w *writer) options() {
	ast.Inspect(w.file, func(n ast.Node) bool {
		literal, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		if t, ok := literal.Type.(*ast.SelectorExpr); ok && t.Sel.Name == "Options" {
			for _, e := range literal.Elts {
				w.option(e, toCheck[w.packageOf(t)])
			}
		}
		return true
	})
}

func (w *writer) option(element ast.Expr, toCheck map[string]string) {
	if of, ok := element.(*ast.KeyValueExpr); ok {
		if key, ok := of.Key.(*ast.Ident); ok && toCheck[key.Name] != "" {
			w.leave(of, toCheck[key.Name])
		}
	}
}

// cache reports a cache without a manager, unless the file calls Use.
func (w *writer) cache(use *ast.SelectorExpr) {
	if !w.mentions(ourControllerRuntime, "Use") {
		w.leave(use, "first pass the config and the cache's options to Use of tidemark's package controllerruntime, in this file")
	}
}
