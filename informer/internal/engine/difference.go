package engine

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/resource"
)

// difference returns the path of the first field in which two values differ, such as .Spec.Containers[0].Env.
// The path is empty for the values themselves. It never contains a value or the key of a map. same compares
// two Quantities.
func difference(a, b reflect.Value, same func(a, b resource.Quantity) bool) (path string, differs bool) {
	if a.IsValid() != b.IsValid() || a.IsValid() && a.Type() != b.Type() {
		return "", true
	}
	switch a.Kind() {
	case reflect.Invalid:
		return "", false
	case reflect.Pointer, reflect.Interface:
		if a.Kind() == reflect.Pointer && a.Pointer() == b.Pointer() {
			return "", false
		}
		return difference(a.Elem(), b.Elem(), same)
	case reflect.Struct:
		return structDifference(a, b, same)
	case reflect.Slice, reflect.Array:
		if a.Len() != b.Len() || a.Kind() == reflect.Slice && a.IsNil() != b.IsNil() {
			return "", true
		}
		for i := range a.Len() {
			if path, differs := difference(a.Index(i), b.Index(i), same); differs {
				return fmt.Sprintf("[%d]%s", i, path), true
			}
		}
		return "", false
	case reflect.Map:
		if a.Len() != b.Len() || a.IsNil() != b.IsNil() {
			return "", true
		}
		for k, v := range a.Seq2() {
			if path, differs := difference(v, b.MapIndex(k), same); differs {
				return "[]" + path, true
			}
		}
		return "", false
	case reflect.Func:
		return "", !a.IsNil() || !b.IsNil()
	default:
		return "", !a.Equal(b)
	}
}

func structDifference(a, b reflect.Value, same func(a, b resource.Quantity) bool) (path string, differs bool) {
	if a.Type() == reflect.TypeFor[resource.Quantity]() && a.CanInterface() {
		return "", !same(a.Interface().(resource.Quantity), b.Interface().(resource.Quantity))
	}
	for i := range a.NumField() {
		if path, differs := difference(a.Field(i), b.Field(i), same); differs {
			if field := a.Type().Field(i); field.IsExported() {
				path = "." + field.Name + path
			}
			return path, true
		}
	}
	return "", false
}
