package protodecode

import (
	"reflect"
	"slices"

	"github.com/tidemark-k8s/tidemark/internal/gotype"
)

// unmarshaler is the interface of the generated types.
type unmarshaler interface{ Unmarshal(data []byte) error }

// formOf returns the form for a type's messages.
func formOf(t *gotype.Type) form {
	switch {
	case t.Go == gotype.Time:
		return formTime
	case t.Go == gotype.MicroTime:
		return formMicroTime
	case t.Go == gotype.Quantity:
		return formQuantity
	case t.Message:
		return formTable
	}
	return formForeign
}

// holdsReferences reports whether a value itself has pointers, slices or maps. If so, storing equal
// values once saves memory.
func holdsReferences(t *gotype.Type) bool {
	if t.Kind != reflect.Struct {
		return t.Kind == reflect.Pointer || t.Kind == reflect.Slice || t.Kind == reflect.Map || t.Kind == reflect.Interface
	}
	known := t.Go == gotype.Time || t.Go == gotype.MicroTime || t.Go == gotype.Quantity
	return !known && slices.ContainsFunc(t.Fields, func(f gotype.Field) bool { return holdsReferences(f.Type) })
}

// occursOnce reports whether this package can decode a field of this kind only if it occurs once in a
// message, or in one run.
func (k kind) occursOnce() bool {
	return k == kindMessage || k >= kindMessagePointer
}

// hasStrings reports whether the field itself consists of strings.
func (f *field) hasStrings() bool {
	switch f.kind {
	case kindString, kindStringPointer, kindStrings, kindStringMap, kindBytesMap, kindMap:
		return true
	}
	return false
}

// reachOf returns the reach of a field's value of type t.
func reachOf(f *field, t *gotype.Type, r gotype.Realm) reach {
	switch f.kind {
	case kindMessage: // it is copied from the shared message
		if r != gotype.Open || t.Writers&gotype.Programs != 0 || !holdsReferences(t) {
			return reachSolid
		}
		return reachShared
	case kindBytes, kindStrings, kindStringMap, kindBytesMap, kindMessagePointer, kindMessages, kindMap:
		switch {
		case t.PointsToFieldsV1():
			return reachShared
		case !t.Shareable() || r != gotype.Open:
			return reachPrivate
		case f.sub != nil && f.kind != kindMap && (f.sub.form == formTime || f.sub.form == formMicroTime):
			return reachSolid // hardly ever equal
		}
		return reachShared
	case kindStringPointer, kindBoolPointer, kind32Pointer, kind64Pointer, kindFloat32Pointer, kindFloat64Pointer,
		kindBools, kind32s, kind64s:
		if r != gotype.Open {
			return reachPrivate
		}
	}
	return reachSolid
}
