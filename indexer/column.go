package indexer

import (
	"reflect"
	"slices"
	"unsafe"
)

// column is a list of objects in their stored form. Nearly all columns have objects of one type.
// They store the type once, and for each object one word instead of an interface's two. A column
// with objects of several types is mixed.
//
// Invariant: in a mixed column each word points to an interface value. In any other column kind
// and each word are the two words of an interface value, see halves.
type column struct {
	kind  unsafe.Pointer
	words []unsafe.Pointer
}

// mixed is the kind of a mixed column. No type is at its address.
var mixed = unsafe.Pointer(new(int))

func (c *column) len() int { return len(c.words) }

// at returns the object at a position.
func (c *column) at(i int) (obj any) {
	if c.kind == mixed {
		return *(*any)(c.words[i])
	}
	w := (*halves)(unsafe.Pointer(&obj))
	w.kind, w.data = c.kind, c.words[i]
	return obj
}

// appendTo appends the objects to dst.
func (c *column) appendTo(dst []any) []any {
	if c.kind == mixed {
		for _, w := range c.words {
			dst = append(dst, *(*any)(w))
		}
		return dst
	}
	size := len(dst)
	dst = slices.Grow(dst, len(c.words))[:size+len(c.words)]
	room := unsafe.Slice((*halves)(unsafe.Pointer(unsafe.SliceData(dst[size:]))), len(c.words))
	for i, w := range c.words {
		room[i] = halves{c.kind, w}
	}
	return dst
}

// add appends an object.
func (c *column) add(obj any) {
	if len(c.words) == 0 {
		c.kind = slotOf(obj).kind
	}
	c.words = append(c.words, c.word(obj))
}

// set replaces the object at a position, and returns the old one.
func (c *column) set(i int, obj any) (old any) {
	old = c.at(i)
	c.words[i] = c.word(obj)
	return old
}

// word returns the word for an object. It makes the column mixed if the object's type differs from
// the others'.
func (c *column) word(obj any) unsafe.Pointer {
	if s := slotOf(obj); s.kind == c.kind {
		return s.data
	}
	c.mix()
	return boxed(obj)
}

// mix makes the column mixed.
func (c *column) mix() {
	if c.kind == mixed {
		return
	}
	for i := range c.words {
		c.words[i] = boxed(c.at(i))
	}
	c.kind = mixed
}

// boxed returns a pointer to an interface value.
func boxed(obj any) unsafe.Pointer { return unsafe.Pointer(&obj) }

// pop removes the last object.
func (c *column) pop() {
	end := len(c.words) - 1
	c.words[end] = nil
	c.words = c.words[:end]
}

// clone returns a copy with the same capacity.
func (c *column) clone() column {
	words := make([]unsafe.Pointer, len(c.words), cap(c.words))
	copy(words, c.words)
	return column{c.kind, words}
}

// pointers returns the column's memory as a slice of T, if T is a pointer type and the type of all
// objects. A pointer is the second word of its interface value.
func pointers[T any](c *column) ([]T, bool) {
	var nothing T
	if c.kind != slotOf(nothing).kind || reflect.TypeFor[T]().Kind() != reflect.Pointer {
		return nil, false
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(c.words))), len(c.words)), true
}
