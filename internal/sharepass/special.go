package sharepass

import (
	"encoding/binary"
	"reflect"
	"time"
)

// time encodes a time as decoders make it: in UTC or local, without a monotonic reading. It
// returns false for any other time.
func (w *walk) time(t time.Time) bool {
	location := byte(1)
	switch t.Location() {
	case time.UTC:
	case time.Local:
		location = 2
	default:
		return false
	}
	if t != t.Round(0) { // Round strips the monotonic reading
		return false
	}
	w.buf = append(w.buf, location)
	w.buf = binary.AppendVarint(w.buf, t.Unix())
	w.buf = binary.AppendUvarint(w.buf, uint64(t.Nanosecond())) //nolint:gosec // never negative
	return true
}

// The fields of a Quantity, and of the int64Amount in it.
const (
	quantityAmount, quantityDec, quantityText, quantityFormat = 0, 1, 2, 3

	amountValue, amountScale = 0, 1
)

// quantityKnown reports whether a Quantity has the fields that this package knows. If not, no
// Quantity is shared.
var quantityKnown = knowsQuantity(quantityType)

func knowsQuantity(t reflect.Type) bool {
	if t.NumField() != 4 {
		return false
	}
	amount, dec := t.Field(quantityAmount).Type, t.Field(quantityDec).Type
	return amount.Kind() == reflect.Struct && amount.NumField() == 2 &&
		amount.Field(amountValue).Type.Kind() == reflect.Int64 && amount.Field(amountScale).Type.Kind() == reflect.Int32 &&
		dec.Kind() == reflect.Struct && dec.NumField() == 1 && dec.Field(0).Type.Kind() == reflect.Pointer &&
		t.Field(quantityText).Type.Kind() == reflect.String && t.Field(quantityFormat).Type.Kind() == reflect.String
}

// quantity encodes a Quantity, with its text if that is cached. It returns false for a
// Quantity that does not fit into an integer: its decimal is behind a pointer, and methods of
// copies write through it.
func (w *walk) quantity(q reflect.Value) bool {
	if !q.Field(quantityDec).Field(0).IsNil() {
		return false
	}
	amount := q.Field(quantityAmount)
	w.buf = binary.AppendVarint(w.buf, amount.Field(amountValue).Int())
	w.buf = binary.AppendVarint(w.buf, amount.Field(amountScale).Int())
	w.string(q.Field(quantityText).String())
	w.string(q.Field(quantityFormat).String())
	return true
}
