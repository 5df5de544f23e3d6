package fields

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/tidemark-k8s/tidemark/internal/gotype"
)

// Cut removes the fields from a decoded object: a pointer to a struct with JSON names, or a map.
// It writes into the object. The result is what decoding the object's JSON without the fields
// would have made.
func (s *Set) Cut(obj any) {
	if s == nil {
		return
	}
	v := reflect.ValueOf(obj)
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	s.cut(v)
}

// cut removes the fields from a value that can be set, or from a map.
func (s *Set) cut(v reflect.Value) {
	if !v.IsValid() {
		return
	}
	t := gotype.Of(v.Type())
	if t.Decodes&(gotype.JSON|gotype.Text) != 0 && v.CanAddr() && v.Addr().CanInterface() {
		s.cutJSON(v) // only its methods know the fields
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			s.cut(v.Elem())
		}
	case reflect.Interface:
		if !v.IsNil() {
			v.Set(s.copied(v.Elem()))
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			s.cut(v.Index(i))
		}
	case reflect.Map:
		s.cutMap(v)
	case reflect.Struct:
		s.cutStruct(v, t)
	default: // it has no fields
	}
}

// copied returns a copy of a value without the fields.
func (s *Set) copied(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	s.cut(c)
	return c
}

func (s *Set) cutStruct(v reflect.Value, t *gotype.Type) {
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Inline {
			s.cut(v.Field(i))
			continue
		}
		if f.JSON == "" {
			continue
		}
		below, leftOut := s.Of(f.JSON)
		switch {
		case leftOut:
			v.Field(i).SetZero()
		case below != nil:
			below.cut(v.Field(i))
		}
	}
}

// cutMap removes fields from a map. Its keys are also names of fields.
func (s *Set) cutMap(v reflect.Value) {
	for _, key := range v.MapKeys() {
		below, leftOut := s.Of(textOf(key))
		switch {
		case leftOut:
			v.SetMapIndex(key, reflect.Value{})
		case below != nil:
			v.SetMapIndex(key, below.copied(v.MapIndex(key)))
		}
	}
}

// textOf returns the key of a map as it is written in JSON.
func textOf(key reflect.Value) string {
	if key.Kind() == reflect.String {
		return key.String()
	}
	if m, ok := key.Interface().(encoding.TextMarshaler); ok {
		text, _ := m.MarshalText() // without a text it was never decoded
		return string(text)
	}
	return fmt.Sprint(key.Interface())
}

// cutJSON removes the fields from the JSON of a value, and decodes it again. It clears a value that
// cannot be encoded or decoded, so that no dropped field remains.
func (s *Set) cutJSON(v reflect.Value) {
	encoded, err := json.Marshal(v.Addr().Interface())
	if err == nil {
		encoded, err = s.cutText(encoded)
	}
	if err == nil && encoded == nil {
		return
	}
	v.SetZero()
	if err != nil || json.Unmarshal(encoded, v.Addr().Interface()) != nil {
		v.SetZero()
	}
}

// cutText removes the fields from a JSON text. It returns nil for a text without fields.
func (s *Set) cutText(text []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	switch value.(type) {
	case map[string]any, []any:
		s.Cut(&value)
		return json.Marshal(value)
	}
	return nil, nil
}
