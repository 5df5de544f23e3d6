package fields

import (
	"reflect"
	"strings"
)

// Cut removes the fields from a decoded object: a pointer to a struct with JSON names, or a map.
// It writes into the object.
func (s *Set) Cut(obj any) {
	if s != nil {
		s.cut(reflect.ValueOf(obj))
	}
}

func (s *Set) cut(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			s.cut(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			s.cut(v.Index(i))
		}
	case reflect.Map:
		s.cutMap(v)
	case reflect.Struct:
		s.cutStruct(v)
	default: // it has no fields
	}
}

func (s *Set) cutStruct(v reflect.Value) {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" && (f.Anonymous || strings.Contains(options, "inline")) {
			s.cut(v.Field(i))
			continue
		}
		below, leftOut := s.Of(name)
		switch {
		case leftOut:
			v.Field(i).SetZero()
		case below != nil:
			below.cut(v.Field(i))
		}
	}
}

func (s *Set) cutMap(v reflect.Value) {
	if v.Type().Key().Kind() != reflect.String {
		return
	}
	for _, name := range v.MapKeys() {
		below, leftOut := s.Of(name.String())
		switch {
		case leftOut:
			v.SetMapIndex(name, reflect.Value{})
		case below != nil:
			below.cut(v.MapIndex(name)) // what is not addressable in a map has no fields: it is an interface
		}
	}
}
