package protodecode

import (
	"reflect"
	"unsafe"
)

// repeated decodes a run of strings, messages or map entries. The content of the first entry begins at
// start.
func (w *walk) repeated(f *field, dst unsafe.Pointer, data []byte, start int) int {
	n, end := f.run(data, start)
	if end < 0 {
		return -1
	}
	region := data[start:end]
	l := w.lookUp(f, dst, region)
	if l.state == lookupHit {
		return end
	}
	w.mark(f)
	ok := false
	switch f.kind {
	case kindStrings:
		ok = w.strings(f, dst, region, n)
	case kindMessages:
		ok = w.messages(f, dst, region, n)
	case kindStringMap:
		ok = w.stringMap(f, dst, region, n)
	case kindBytesMap:
		ok = w.bytesMap(f, dst, region, n)
	case kindMap:
		ok = w.anyMap(f, dst, region, n)
	}
	if !ok {
		return -1
	}
	w.keep(f, dst, region, l)
	return end
}

// entry returns the content of the entry at i of a measured run, and the index of the next entry's
// content.
func (f *field) entry(region []byte, i int) (b []byte, next int) {
	start, end := content(region, i)
	return region[start:end], end + f.tagLen
}

func (w *walk) strings(f *field, dst unsafe.Pointer, region []byte, n int) bool {
	made := make([]string, n)
	w.size += n * int(unsafe.Sizeof(""))
	at := 0
	for i := range made {
		var b []byte
		b, at = f.entry(region, at)
		made[i] = w.string(f, f.strings, b)
	}
	*(*[]string)(dst) = made
	return true
}

func (w *walk) messages(f *field, dst unsafe.Pointer, region []byte, n int) bool {
	base := f.sub.array(n)
	size := f.sub.typ.Size()
	w.size += n * int(size) //nolint:gosec // the memory was allocated
	at := 0
	for i := range uintptr(n) { //nolint:gosec // n is a count
		var b []byte
		b, at = f.entry(region, at)
		dst := unsafe.Add(base, i*size)
		f.sub.empty(dst)
		if !w.value(f.sub, dst, b) {
			return false
		}
	}
	h := (*header)(dst)
	h.data, h.len, h.cap = base, n, n
	return true
}

// header is the memory layout of a slice.
type header struct {
	data     unsafe.Pointer
	len, cap int
}

// array allocates n messages.
func (p *plan) array(n int) unsafe.Pointer {
	if n < len(p.arrays) {
		return reflect.New(p.arrays[n]).UnsafePointer()
	}
	return reflect.MakeSlice(reflect.SliceOf(p.typ), n, n).UnsafePointer()
}

// packed decodes numbers that are encoded in one chunk.
func (w *walk) packed(f *field, dst unsafe.Pointer, data []byte, i int) int {
	start, end := content(data, i)
	if end < 0 {
		return -1
	}
	chunk, n := data[start:end], 0
	for _, b := range chunk {
		if b < 0x80 {
			n++
		}
	}
	if n > 0 && !w.numbers(f, dst, chunk, n, 0) {
		return -1
	}
	if n == 0 && len(chunk) > 0 {
		return -1
	}
	return end
}

// unpacked decodes numbers that are encoded with a tag each.
func (w *walk) unpacked(f *field, dst unsafe.Pointer, data []byte, i int) int {
	n, end := f.run(data, i)
	if end < 0 || !w.numbers(f, dst, data[i:end], n, f.tagLen) {
		return -1
	}
	return end
}

// numbers decodes n numbers that are gap bytes apart.
func (w *walk) numbers(f *field, dst unsafe.Pointer, chunk []byte, n, gap int) bool {
	w.mark(f)
	w.size += 8 * n
	switch f.kind {
	case kindBools:
		made, ok := read(chunk, n, gap, func(v uint64) bool { return v != 0 })
		*(*[]bool)(dst) = made
		return ok
	case kind32s:
		made, ok := read(chunk, n, gap, func(v uint64) uint32 { return uint32(v) }) //nolint:gosec // as in the generated code
		*(*[]uint32)(dst) = made
		return ok
	case kind64s:
		made, ok := read(chunk, n, gap, func(v uint64) uint64 { return v })
		*(*[]uint64)(dst) = made
		return ok
	}
	return false
}

func read[T any](chunk []byte, n, gap int, as func(uint64) T) ([]T, bool) {
	made := make([]T, n)
	at := 0
	for i := range made {
		v, next := varint(chunk, at)
		if next == 0 {
			return nil, false
		}
		made[i], at = as(v), next+gap
	}
	return made, at-gap == len(chunk)
}
