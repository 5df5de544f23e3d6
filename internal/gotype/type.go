package gotype

import (
	"reflect"
	"strconv"
	"strings"
)

// Type describes a Go type.
type Type struct {
	Go   reflect.Type
	Kind reflect.Kind
	Size uintptr
	Elem *Type // of a pointer, a slice, an array or a map
	Key  *Type // of a map

	Fields  []Field  // of a struct, as they stand in it
	Members []Member // of a struct, as they stand in JSON
	OddJSON bool     // only encoding/json can tell the members

	Decodes Decodes // the encodings that its own methods decode
	Message bool    // its Unmarshal decodes protobuf, and was generated from its field tags
	Writers Writers // who writes into its values
	Refers  bool    // its values refer to memory that the weigher counts
	Private bool    // it has an unexported field and must not be copied: it may be a lock
}

// Decodes is a set of encodings.
type Decodes uint8

// The methods that decode a type.
const (
	JSON     Decodes = 1 << iota // UnmarshalJSON
	Text                         // UnmarshalText
	Protobuf                     // Unmarshal
)

// Field is a field of a struct.
type Field struct {
	Name     string // in Go
	Type     *Type
	Index    int
	Offset   uintptr
	Exported bool

	JSON   string // the name in JSON, or "" if JSON does not reach the field
	Inline bool   // its fields count in JSON as fields of the struct around it
	Number int    // in protobuf, or 0
	Realm  Realm  // of what the field holds
}

var types Plans[reflect.Type, Type]

// Of returns the description of a type.
func Of(t reflect.Type) *Type { return types.Of(t, describe) }

func describe(t reflect.Type, d *Type, of func(reflect.Type) *Type) {
	*d = Type{
		Go: t, Kind: t.Kind(), Size: t.Size(),
		Decodes: decodes(t), Message: isMessage(t), Writers: writersOf(t), Refers: refers(t, false), Private: isPrivate(t),
	}
	switch d.Kind {
	case reflect.Map:
		d.Key = of(t.Key())
		fallthrough
	case reflect.Pointer, reflect.Slice, reflect.Array:
		d.Elem = of(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			name, inline := jsonName(f)
			number, _ := protoNumber(f)
			d.Fields = append(d.Fields, Field{
				Name: f.Name, Type: of(f.Type), Index: i, Offset: f.Offset, Exported: f.IsExported(),
				JSON: name, Inline: inline, Number: number, Realm: realmIn(t, name),
			})
		}
		d.members(of)
	}
}

// Shareable reports whether objects may share the memory that a pointer, slice or map refers to, judging
// by its type. What that memory in turn refers to is judged together with it. Map values are not
// addressable, so getters do not write into them.
func (t *Type) Shareable() bool {
	switch {
	case t.Writers != 0 || t.Elem == nil:
		return false
	case t.Kind == reflect.Map:
		return t.Elem.Writers&Programs == 0
	}
	return t.Elem.Writers == 0
}

// PointsToFieldsV1 reports whether a type is *FieldsV1, which objects share in any place, because
// programs do not write into it.
func (t *Type) PointsToFieldsV1() bool { return t.Kind == reflect.Pointer && t.Elem.Go == FieldsV1 }

// refers reports whether values of a type refer to memory of their own. Unexported fields belong to
// their package, and may point at global memory that the package writes into at any time, such as the
// time zone of a time. Only texts and slices count among them.
func refers(t reflect.Type, hidden bool) bool {
	switch t.Kind() {
	case reflect.String, reflect.Slice:
		return true
	case reflect.Pointer, reflect.Map, reflect.Interface:
		return !hidden
	case reflect.Array:
		return t.Len() > 0 && refers(t.Elem(), hidden)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); refers(f.Type, hidden || !f.IsExported()) {
				return true
			}
		}
	}
	return false
}

func isPrivate(t reflect.Type) bool {
	if t.Kind() != reflect.Struct || t == GoTime || t == Quantity {
		return false
	}
	for i := range t.NumField() {
		if f := t.Field(i); !f.IsExported() || isPrivate(f.Type) {
			return true
		}
	}
	return false
}

const (
	// HighestNumber is the highest protobuf field number that decoders support. Up to it, a tag has at
	// most two bytes.
	HighestNumber = 2047
	// MostNumbers is the largest number of fields of a message. A decoder tracks the fields in a bit set.
	MostNumbers = 64
)

// protoNumber reads the protobuf number of a field from its struct tag. It ignores the type in the tag,
// because some tags name a wrong type.
func protoNumber(f reflect.StructField) (int, bool) {
	parts := strings.Split(f.Tag.Get("protobuf"), ",")
	if len(parts) < 2 {
		return 0, false
	}
	n, err := strconv.Atoi(parts[1])
	if err != nil || n <= 0 || n > HighestNumber {
		return 0, false
	}
	return n, true
}

// isMessage reports whether the Unmarshal of a type decodes its fields by their tags. If the type has
// fields without tags, its Unmarshal was written by hand.
func isMessage(t reflect.Type) bool {
	if t.Kind() != reflect.Struct || decodes(t)&Protobuf == 0 {
		return false
	}
	numbers := make(map[int]bool, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		number, numbered := protoNumber(f)
		switch {
		case numbered && f.IsExported() && !numbers[number] && len(numbers) < MostNumbers:
			numbers[number] = true
		case f.Type == TypeMeta && f.Anonymous: // not encoded
		case t == RawExtension && f.Name == "Object": // not encoded either
		default:
			return false
		}
	}
	return true
}
