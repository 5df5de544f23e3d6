package main

import (
	"go/ast"
	"slices"
	"strings"
)

const (
	stripped  = "this transform removes managedFields from decoded objects: "
	toDrop    = "if it does nothing else, skip them in decoding with factory.WithDecoding(reflector.Decoding{Drop: []string{\"metadata.managedFields\"}}) instead"
	inManager = "if it does nothing else, use cache.TransformStripManagedFields() in a manager's cache instead; tidemark recognizes it, and skips them in decoding"
)

// transforms reports each transform that removes managedFields. A field that is never decoded costs less.
func (w *writer) transforms() {
	ast.Inspect(w.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			w.transform(n, n.Type, n.Body)
		case *ast.FuncLit:
			w.transform(n, n.Type, n.Body)
		}
		return true
	})
}

// transform reports a function with the type of a cache.TransformFunc, if it removes managedFields.
func (w *writer) transform(at ast.Node, t *ast.FuncType, body *ast.BlockStmt) {
	if body == nil || t.TypeParams != nil || !isAny(t.Params) || !isAny(t.Results) || t.Results.NumFields() != 2 || !endsInError(t.Results) {
		return
	}
	removes := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			method, ok := n.Fun.(*ast.SelectorExpr)
			removes = removes || ok && method.Sel.Name == "SetManagedFields" && len(n.Args) == 1 && isNil(n.Args[0])
		case *ast.AssignStmt:
			field, ok := n.Lhs[0].(*ast.SelectorExpr)
			removes = removes || ok && field.Sel.Name == "ManagedFields" && len(n.Rhs) == 1 && isNil(n.Rhs[0])
		}
		return true
	})
	switch {
	case removes && w.hasManager():
		w.leave(at, stripped+inManager)
	case removes:
		w.leave(at, stripped+toDrop)
	}
}

// hasManager reports whether the file uses controller-runtime.
func (w *writer) hasManager() bool {
	return slices.ContainsFunc(w.imports, func(i *imported) bool {
		return i.path == controllerRuntime || strings.HasPrefix(i.path, controllerRuntime+"/")
	})
}

// packageOf returns the import path of the package in a qualified name, or "".
func (w *writer) packageOf(use *ast.SelectorExpr) string {
	x, ok := use.X.(*ast.Ident)
	if !ok || x.Obj != nil {
		return ""
	}
	if i := w.byName[x.Name]; i != nil {
		return i.path
	}
	return ""
}

// isAny reports whether the first parameter or result has the type any.
func isAny(all *ast.FieldList) bool {
	if all == nil || len(all.List) == 0 {
		return false
	}
	switch t := all.List[0].Type.(type) {
	case *ast.Ident:
		return t.Name == "any"
	case *ast.InterfaceType:
		return len(t.Methods.List) == 0
	}
	return false
}

// endsInError reports whether the last parameter or result is an error.
func endsInError(all *ast.FieldList) bool {
	if len(all.List) == 0 {
		return false
	}
	t, ok := all.List[len(all.List)-1].Type.(*ast.Ident)
	return ok && t.Name == "error"
}

func isNil(x ast.Expr) bool {
	name, ok := x.(*ast.Ident)
	return ok && name.Name == "nil"
}
