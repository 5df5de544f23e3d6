package protodecode

import (
	"reflect"

	"k8s.io/apimachinery/pkg/api/resource"
)

// fillQuantities fills in the text of all small quantities of an object, as
// the decoder does that shares values.
func fillQuantities(v reflect.Value) {
	if q, ok := v.Interface().(resource.Quantity); ok {
		_ = q.String()
		v.Set(reflect.ValueOf(q))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fillQuantities(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			fillQuantities(v.Index(i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			e := reflect.New(v.Type().Elem()).Elem()
			e.Set(v.MapIndex(k))
			fillQuantities(e)
			v.SetMapIndex(k, e)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fillQuantities(v.Field(i))
			}
		}
	}
}
