package protodecode

import (
	"bytes"
	"reflect"
	"slices"
	"sync/atomic"
	"unsafe"
)

// Peer is an object that a decoder has made of Data.
type Peer struct {
	Data   []byte
	Object any
}

// DecodeBeside decodes as Decode does, and takes what the peer has of equal bytes from the peer: strings, and
// the values that objects may share. The peer is an object of this decoder, or of one with the same options.
func (d *Decoder) DecodeBeside(data []byte, p Peer) (any, error) { return d.decode(data, p) }

// value returns the place of the object, or nil if it is of another type.
func (p Peer) value(object reflect.Type) unsafe.Pointer {
	if t := reflect.TypeOf(p.Object); t == nil || t.Kind() != reflect.Pointer || t.Elem() != object {
		return nil
	}
	return reflect.ValueOf(p.Object).UnsafePointer()
}

// peer is a message that was decoded before one of the same type.
type peer struct {
	base  unsafe.Pointer
	data  []byte
	first int // in walk.spans, of the spans of the fields by number
}

// span is where a field's content stands in a message: that of all entries of a repeated one, with the tags in
// between. A field that the message does not have has none.
type span struct{ start, end int }

// at returns the place of a field's value, nil if there is no peer.
func (p *peer) at(f *field) unsafe.Pointer {
	if p == nil {
		return nil
	}
	return unsafe.Add(p.base, f.offset)
}

// string returns the peer's string, if the bytes are equal.
func (p *peer) string(f *field, b []byte) (string, bool) {
	if p == nil {
		return "", false
	}
	s := *(*string)(p.at(f))
	return s, s == string(b)
}

// contentIn returns the bytes of a field in the peer, nil if there is no peer or no such field.
func (w *walk) contentIn(p *peer, f *field) []byte {
	if p == nil {
		return nil
	}
	s := w.spans[p.first+f.number]
	if s.end == 0 {
		return nil
	}
	return p.data[s.start:s.end]
}

// take puts the value that the peer has of a field into the field, if the bytes are equal and objects may share
// all of it.
func (w *walk) take(p *peer, f *field, dst unsafe.Pointer, encoded []byte) bool {
	if p == nil || !f.isWhole() || !bytes.Equal(w.contentIn(p, f), encoded) || len(encoded) == 0 {
		return false
	}
	f.copy(dst, p.at(f))
	return true
}

// isWhole reports whether objects may share whatever a value of the field holds.
func (f *field) isWhole() bool {
	return f.own == ownNothing || f.own == ownQuantities && !metBigQuantity.Load()
}

// metBigQuantity is true once the process has met a Quantity that objects must not share: its number is beyond
// int64. From then on, objects decoded one beside the other have no quantities in common.
var metBigQuantity atomic.Bool

// below decodes a message into dst. If theirs is not nil, that is the same message of the peer, which was decoded
// from the bytes their.
func (w *walk) below(p *plan, dst unsafe.Pointer, b []byte, theirs unsafe.Pointer, their []byte) bool {
	if p.form != formTable || theirs == nil || their == nil {
		return w.value(p, dst, b)
	}
	first := len(w.spans)
	ok := false
	if w.find(p, their) {
		ok = w.message(p, dst, b, &peer{theirs, their, first})
	} else {
		ok = w.value(p, dst, b)
	}
	w.spans = w.spans[:first]
	return ok
}

// find appends the spans of a message's fields. It returns false if the value of a field may come from more than
// its span.
func (w *walk) find(p *plan, data []byte) bool {
	first := len(w.spans)
	w.spans = slices.Grow(w.spans, len(p.fields))[:first+len(p.fields)]
	spans := w.spans[first:]
	clear(spans)
	for i := 0; i < len(data); {
		tag, start := varint(data, i)
		if start == 0 {
			return false
		}
		number, end := tag>>3, 0
		switch {
		case number >= uint64(len(p.fields)) || p.fields[number].wire != wireBytes:
			end = skip(data, start, uint8(tag&7))
		case tag&7 != wireBytes || spans[number].end > 0:
			return false
		case p.fields[number].kind >= kindStrings:
			_, end = p.fields[number].run(data, start)
			spans[number] = span{start, end}
		default:
			start, end = content(data, start)
			spans[number] = span{start, end}
		}
		if end < 0 {
			return false
		}
		i = end
	}
	return true
}

// elements are the messages of a peer's slice that have not been passed yet.
type elements struct {
	left header
	data []byte // without the tag of the first
}

func (w *walk) elements(p *peer, f *field) (e elements) {
	if data := w.contentIn(p, f); data != nil {
		e.left, e.data = *(*header)(p.at(f)), data
	}
	return e
}

// next returns the place of the next element and its bytes, nil behind the last.
func (e *elements) next(f *field) (place unsafe.Pointer, b []byte) {
	if len(e.data) == 0 || e.left.len == 0 {
		return nil, nil
	}
	b, next := f.entry(e.data, 0)
	place = e.left.data
	e.data = e.data[min(next, len(e.data)):]
	if e.left.len--; e.left.len > 0 {
		e.left.data = unsafe.Add(place, f.sub.typ.Size())
	}
	return place, b
}
