package informer

import (
	"fmt"
	"reflect"
)

// firstDifference returns the path of the first field in which two values of one type differ, such as
// .Spec.Containers[0].Env; empty if it is the values themselves. It never contains a value, nor a key of a map.
func firstDifference(a, b reflect.Value) string {
	if a.Kind() == reflect.Interface || a.Kind() == reflect.Pointer {
		if a.IsNil() || b.IsNil() || a.Elem().Type() != b.Elem().Type() {
			return ""
		}
		return firstDifference(a.Elem(), b.Elem())
	}
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			if !equalValues(a.Field(i), b.Field(i)) {
				return "." + a.Type().Field(i).Name + firstDifference(a.Field(i), b.Field(i))
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range min(a.Len(), b.Len()) {
			if !equalValues(a.Index(i), b.Index(i)) {
				return fmt.Sprintf("[%d]", i) + firstDifference(a.Index(i), b.Index(i))
			}
		}
	case reflect.Map:
		for _, key := range a.MapKeys() {
			if v := b.MapIndex(key); v.IsValid() && !equalValues(a.MapIndex(key), v) {
				return "[]" + firstDifference(a.MapIndex(key), v)
			}
		}
	}
	return ""
}

// equalValues compares two values. Those of unexported fields count as equal: the field around them is named.
func equalValues(a, b reflect.Value) bool {
	return !a.CanInterface() || reflect.DeepEqual(a.Interface(), b.Interface())
}
