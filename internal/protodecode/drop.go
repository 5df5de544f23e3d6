package protodecode

import (
	"reflect"

	"github.com/tidemark-k8s/tidemark/internal/fields"
)

// clearDropped clears the fields to leave out, in an object decoded by the generated Unmarshal.
func clearDropped(v reflect.Value, drop *fields.Set) {
	if drop == nil {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			clearDropped(v.Elem(), drop)
		}
	case reflect.Slice:
		for i := range v.Len() {
			clearDropped(v.Index(i), drop)
		}
	case reflect.Map:
		clearInMap(v, drop)
	case reflect.Struct:
		clearInStruct(v, drop)
	}
}

func clearInStruct(v reflect.Value, drop *fields.Set) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if _, numbered := numberOf(f); !numbered {
			continue
		}
		below, leftOut := drop, false
		if name, inline := jsonName(f); !inline {
			below, leftOut = drop.Of(name)
		}
		if leftOut {
			v.Field(i).SetZero()
			continue
		}
		clearDropped(v.Field(i), below)
	}
}

func clearInMap(v reflect.Value, drop *fields.Set) {
	if v.Type().Elem().Kind() != reflect.Struct {
		return
	}
	for _, key := range v.MapKeys() {
		value := reflect.New(v.Type().Elem()).Elem()
		value.Set(v.MapIndex(key))
		clearDropped(value, drop)
		v.SetMapIndex(key, value)
	}
}
