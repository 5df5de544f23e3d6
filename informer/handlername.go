package informer

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
)

// typeName returns the name of a value's type with the path of its package.
func typeName(v any) string {
	t := reflect.TypeOf(v)
	if t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.PkgPath() == "" || t.Name() == "" {
		return fmt.Sprintf("%T", v)
	}
	return t.PkgPath() + "." + t.Name()
}

// funcsName returns the name of the function or package in which functions are written, or the functions'
// joined names if they are written in different ones. It is empty if all functions are nil.
func funcsName(funcs ...any) string {
	var names, places []string
	for _, f := range funcs {
		v := reflect.ValueOf(f)
		if v.IsNil() {
			continue
		}
		name := runtime.FuncForPC(v.Pointer()).Name()
		names = append(names, name)
		places = append(places, name[:max(0, strings.LastIndexByte(name, '.'))])
	}
	if slices.Sort(places); len(slices.Compact(places)) == 1 {
		return places[0]
	}
	return strings.Join(names, "+")
}
