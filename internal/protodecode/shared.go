package protodecode

import (
	"reflect"
	"unsafe"

	"github.com/tidemark-k8s/tidemark/internal/share"
)

// lookup is the result of a look-up in the table.
type lookup struct {
	state lookupState
	mark  share.Mark
	owner owner // the owner before the look-up
	size  int   // the size before the look-up
}

type lookupState uint8

const (
	lookupNone   lookupState = iota // decode it
	lookupHit                       // the field has the value
	lookupWanted                    // decode it and keep it
)

// lookUp looks up the value of a field in the table. If it finds the value, it puts it into the field.
func (w *walk) lookUp(f *field, dst unsafe.Pointer, encoded []byte) lookup {
	if f.reach != reachShared || !w.values {
		return lookup{}
	}
	value, mark := w.table.Find(f.values, encoded)
	if value != nil {
		f.put(dst, value)
		return lookup{state: lookupHit}
	}
	if !mark.Wanted() {
		return lookup{}
	}
	l := lookup{lookupWanted, mark, w.owner, w.size}
	w.owner = ownerAll
	return l
}

// keep stores a wanted value in the table, unless decoding has shown that the value belongs to one
// object.
func (w *walk) keep(f *field, dst unsafe.Pointer, encoded []byte, l lookup) {
	if l.state != lookupWanted {
		return
	}
	if w.owner == ownerAll {
		w.table.Keep(l.mark, f.values, encoded, f.take(dst), w.size-l.size)
	}
	w.owner = max(w.owner, l.owner)
}

// take returns what the table stores for the field at src: a pointer to the message, a map, or a pointer
// to a copy of the slice or message.
func (f *field) take(src unsafe.Pointer) any {
	v := reflect.NewAt(f.typ, src).Elem()
	switch f.kind {
	case kindMessagePointer, kindStringMap, kindBytesMap, kindMap:
		return v.Interface()
	}
	cell := reflect.New(f.typ)
	cell.Elem().Set(v)
	return cell.Interface()
}

// put sets the field at dst to a value from take.
func (f *field) put(dst unsafe.Pointer, value any) {
	p := reflect.ValueOf(value).UnsafePointer()
	switch f.kind {
	case kindMessagePointer, kindStringMap, kindBytesMap, kindMap:
		*(*unsafe.Pointer)(dst) = p
	case kindMessage:
		reflect.NewAt(f.typ, dst).Elem().Set(reflect.NewAt(f.typ, p).Elem())
	default:
		*(*header)(dst) = *(*header)(p)
	}
}

// inner decodes a message that is embedded in another message.
func (w *walk) inner(f *field, dst unsafe.Pointer, b []byte) bool {
	l := w.lookUp(f, dst, b)
	if l.state == lookupHit {
		return true
	}
	if !w.value(f.sub, dst, b) {
		return false
	}
	w.keep(f, dst, b, l)
	return true
}

// pointed decodes a message that the field points to.
func (w *walk) pointed(f *field, dst unsafe.Pointer, b []byte) bool {
	l := w.lookUp(f, dst, b)
	if l.state == lookupHit {
		return true
	}
	w.mark(f)
	p := reflect.New(f.sub.typ).UnsafePointer()
	*(*unsafe.Pointer)(dst) = p
	f.sub.empty(p)
	w.size += int(f.sub.typ.Size()) //nolint:gosec // the memory was allocated
	if !w.value(f.sub, p, b) {
		return false
	}
	w.keep(f, dst, b, l)
	return true
}

func (w *walk) bytes(f *field, dst unsafe.Pointer, b []byte) bool {
	l := w.lookUp(f, dst, b)
	if l.state == lookupHit {
		return true
	}
	w.mark(f)
	*(*[]byte)(dst) = clone(b)
	w.size += len(b)
	w.keep(f, dst, b, l)
	return true
}

// clone copies bytes. Empty bytes become an empty slice, as in the generated code.
func clone(b []byte) []byte {
	made := make([]byte, len(b))
	copy(made, b)
	return made
}
