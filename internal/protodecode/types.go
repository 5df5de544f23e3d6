package protodecode

import (
	"encoding/json"
	"reflect"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// unmarshaler is the interface of the generated types.
type unmarshaler interface{ Unmarshal(data []byte) error }

var (
	unmarshalerType     = reflect.TypeFor[unmarshaler]()
	jsonUnmarshalerType = reflect.TypeFor[json.Unmarshaler]()
	stringType          = reflect.TypeFor[string]()
	bytesType           = reflect.TypeFor[[]byte]()
	timeType            = reflect.TypeFor[metav1.Time]()
	microTimeType       = reflect.TypeFor[metav1.MicroTime]()
	quantityType        = reflect.TypeFor[resource.Quantity]()
	objectMetaType      = reflect.TypeFor[metav1.ObjectMeta]()
	typeMetaType        = reflect.TypeFor[metav1.TypeMeta]()
	fieldsV1Type        = reflect.TypeFor[metav1.FieldsV1]()
	rawExtensionType    = reflect.TypeFor[runtime.RawExtension]()
)

func hasUnmarshal(t reflect.Type) bool { return reflect.PointerTo(t).Implements(unmarshalerType) }

// decodesItself reports whether a type reads and writes its JSON itself.
func decodesItself(t reflect.Type) bool { return reflect.PointerTo(t).Implements(jsonUnmarshalerType) }

// formOf returns the form of a type's messages. A type with fields without a protobuf tag has an
// Unmarshal written by hand.
func formOf(t reflect.Type) form {
	switch t {
	case timeType:
		return formTime
	case microTimeType:
		return formMicroTime
	case quantityType:
		return formQuantity
	}
	if t.Kind() != reflect.Struct || !hasUnmarshal(t) {
		return formForeign
	}
	numbers := make(map[int]bool, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		number, numbered := numberOf(f)
		switch {
		case numbered && f.IsExported() && !numbers[number] && len(numbers) < mostFields:
			numbers[number] = true
		case f.Type == typeMetaType && f.Anonymous: // no part of the encoding
		case t == rawExtensionType && f.Name == "Object": // likewise
		default:
			return formForeign
		}
	}
	return formTable
}

// holding lists the contents of a value itself, without those behind pointers, slices and maps.
type holding uint8

const (
	// holdsReferences: equal values are worth storing once.
	holdsReferences holding = 1 << iota
	// holdsWritten: an ObjectMeta, whose fields programs set, or a type that this package does
	// not know.
	holdsWritten
	// holdsQuantity: a Quantity with methods that write into it. AsDec, and sometimes Cmp, change
	// the representation of its number.
	holdsQuantity
)

func holdingOf(t reflect.Type) holding {
	switch t.Kind() {
	case reflect.Slice, reflect.Map:
		if hasUnmarshal(t) {
			return holdsWritten
		}
		return holdsReferences
	case reflect.Pointer, reflect.Interface:
		return holdsReferences
	case reflect.Struct:
	default:
		return 0
	}
	switch {
	case t == timeType, t == microTimeType:
		return 0
	case t == fieldsV1Type:
		return holdsReferences
	case t == quantityType:
		return holdsQuantity
	case t == objectMetaType, formOf(t) == formForeign:
		return holdsWritten
	}
	var h holding
	for i := range t.NumField() {
		h |= holdingOf(t.Field(i).Type)
	}
	return h
}

// occursOnce reports whether a field of this kind must occur once in a message, or in one run,
// for the code below.
func (k kind) occursOnce() bool {
	return k == kindMessage || k >= kindMessagePointer
}

// hasStrings reports whether a field itself consists of strings.
func (f *field) hasStrings() bool {
	switch f.kind {
	case kindString, kindStringPointer, kindStrings, kindStringMap, kindBytesMap, kindMap:
		return true
	}
	return false
}

// reachOf returns the reach of a field's value.
func reachOf(f *field, r realm) reach {
	if f.sub != nil && f.sub.typ == fieldsV1Type && f.kind == kindMessagePointer {
		return reachShared
	}
	switch f.kind {
	case kindMessage:
		return reachOfMessage(f, r)
	case kindBytes, kindStrings, kindStringMap, kindBytesMap:
		return reachIn(r)
	case kindMessagePointer, kindMessages:
		return reachOfPointed(f, r)
	case kindMap:
		if holdingOf(f.elem)&holdsWritten != 0 {
			return reachPrivate
		}
		return reachIn(r)
	case kindStringPointer, kindBoolPointer, kind32Pointer, kind64Pointer, kindFloat32Pointer, kindFloat64Pointer,
		kindBools, kind32s, kind64s:
		if r != realmOpen {
			return reachPrivate
		}
	}
	return reachSolid
}

// reachOfMessage returns the reach of an embedded message: it is copied out of the shared one.
func reachOfMessage(f *field, r realm) reach {
	h := holdingOf(f.typ)
	if r != realmOpen || h&holdsWritten != 0 || h&holdsReferences == 0 {
		return reachSolid
	}
	return reachShared
}

// reachOfPointed returns the reach of a message behind a pointer: objects would share the message
// itself.
func reachOfPointed(f *field, r realm) reach {
	switch h := holdingOf(f.sub.typ); {
	case h&(holdsWritten|holdsQuantity) != 0:
		return reachPrivate
	case f.sub.form == formTime, f.sub.form == formMicroTime:
		return reachSolid // hardly ever equal
	}
	return reachIn(r)
}

func reachIn(r realm) reach {
	if r != realmOpen {
		return reachPrivate
	}
	return reachShared
}
