package gotype

import (
	"encoding"
	"encoding/json"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The types that some code refers to by name.
var (
	GoTime       = reflect.TypeFor[time.Time]()
	Time         = reflect.TypeFor[metav1.Time]()
	MicroTime    = reflect.TypeFor[metav1.MicroTime]()
	Duration     = reflect.TypeFor[metav1.Duration]()
	Quantity     = reflect.TypeFor[resource.Quantity]()
	IntOrString  = reflect.TypeFor[intstr.IntOrString]()
	RawExtension = reflect.TypeFor[runtime.RawExtension]()
	FieldsV1     = reflect.TypeFor[metav1.FieldsV1]()
	ObjectMeta   = reflect.TypeFor[metav1.ObjectMeta]()
	TypeMeta     = reflect.TypeFor[metav1.TypeMeta]()
)

// Writers says who may write into a value itself. What its pointers, slices and maps refer to does not
// count.
type Writers uint8

const (
	// Programs write into it, although they must not, or unknown code may.
	Programs Writers = 1 << iota
	// Getters write into it if it is addressable.
	Getters
)

// A rule says who writes into the values of some types.
type rule struct {
	what    string
	holds   func(t reflect.Type) bool
	writers Writers
}

// rules decide by type what objects may share. The first matching rule decides. If none matches, a
// struct's fields decide.
var rules = []rule{
	{"apimachinery's times decode themselves, and their methods do not write", isOneOf(GoTime, Time, MicroTime, Duration), 0},
	{"an IntOrString decodes itself, and its methods do not write", isOneOf(IntOrString), 0},
	{"raw JSON decodes itself, and its methods do not write", isOneOf(RawExtension, FieldsV1), 0},
	{"any method may write into a Quantity with an unknown layout", func(t reflect.Type) bool { return t == Quantity && !quantityKnown }, Programs},
	{"AsDec, and sometimes Cmp, change the representation of a Quantity's number", isOneOf(Quantity), Getters},
	{"a type that decodes itself may do anything", decodesItself, Programs},
	{"nothing is known about values that cannot be encoded", isForeign, Programs},
	{"a method may keep data of one object in a field that is not encoded", hasUnreached, Programs},
	{"programs set the fields of an ObjectMeta, and fields with certain names (see places)", hasWritten, Programs},
}

func writersOf(t reflect.Type) (w Writers) {
	for _, r := range rules {
		if r.holds(t) {
			return r.writers
		}
	}
	if t.Kind() == reflect.Struct {
		for i := range t.NumField() {
			w |= writersOf(t.Field(i).Type)
		}
	}
	return w
}

func isOneOf(types ...reflect.Type) func(reflect.Type) bool {
	return func(t reflect.Type) bool {
		for _, known := range types {
			if t == known {
				return true
			}
		}
		return false
	}
}

var decoders = map[Decodes]reflect.Type{
	JSON:     reflect.TypeFor[json.Unmarshaler](),
	Text:     reflect.TypeFor[encoding.TextUnmarshaler](),
	Protobuf: reflect.TypeFor[interface{ Unmarshal(data []byte) error }](),
}

func decodes(t reflect.Type) (d Decodes) {
	for encoding, method := range decoders {
		if reflect.PointerTo(t).Implements(method) {
			d |= encoding
		}
	}
	return d
}

// decodesItself reports whether a type has a handwritten method that decodes it.
func decodesItself(t reflect.Type) bool {
	d := decodes(t)
	return d&(JSON|Text) != 0 || d&Protobuf != 0 && !isMessage(t)
}

func isForeign(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Map:
		return t.Key().Kind() != reflect.String
	case reflect.Interface, reflect.Array, reflect.Chan, reflect.Func, reflect.UnsafePointer, reflect.Uintptr, reflect.Complex64, reflect.Complex128:
		return true
	}
	return false
}

func hasUnreached(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, inline := jsonName(f)
		if _, numbered := protoNumber(f); name == "" && !inline && !numbered {
			return true
		}
	}
	_, _, hides := flatten(t)
	return hides
}

func hasWritten(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	for i := range t.NumField() {
		if name, _ := jsonName(t.Field(i)); realmIn(t, name) != Open {
			return true
		}
	}
	return false
}
