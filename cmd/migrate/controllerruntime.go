package main

import (
	"go/ast"
	"slices"
)

// The functions of controller-runtime that make a manager, and those that make a cache without one.
var (
	managers = map[string]string{controllerRuntime: "NewManager", controllerRuntime + "/pkg/manager": "New"}
	caches   = map[string]string{controllerRuntime + "/pkg/cluster": "New", controllerRuntime + "/pkg/cache": "New"}
)

// controllerRuntime makes managers by tidemark's NewManager, and names the caches without a manager.
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
	call := w.calls[use]
	if call == nil {
		w.leave(use, name+" is not called here: use a function that calls NewManager of tidemark's package controllerruntime")
		return
	}
	to := w.named(ourControllerRuntime, "controllerruntime", "tidemarkruntime") + ".NewManager"
	w.replace(use.Pos(), use.End(), to)
	w.gone[i]++
	w.change(use, name+" -> "+to)
	options, ok := literalAt(call, 1)
	if !ok {
		return
	}
	if of := fieldOf(options, "NewCache"); of != nil {
		w.leave(of, "NewCache makes the cache: check that it passes its options on, which have tidemark's NewInformer")
	}
	if of := fieldOf(options, "Cache"); of != nil {
		if cache, ok := of.Value.(*ast.CompositeLit); ok {
			if of := fieldOf(cache, "NewInformer"); of != nil {
				w.leave(of, "NewManager sets NewInformer, and refuses another one: remove it")
			}
		}
	}
}

// cache names a cache without a manager, unless the file prepares one.
func (w *writer) cache(use *ast.SelectorExpr) {
	ours := w.importOf(ourControllerRuntime)
	if ours != nil && slices.ContainsFunc(ours.uses, func(u *ast.SelectorExpr) bool { return u.Sel.Name == "Use" }) {
		return
	}
	w.leave(use, "first pass the config and the cache's options to Use of tidemark's package controllerruntime")
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
