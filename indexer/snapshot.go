package indexer

import (
	"iter"
	"slices"
)

// Snapshot is a list of objects at one moment: all objects of an indexer, or those under an index
// value. Taking a Snapshot copies nothing, and later writes do not change it. The zero value is an
// empty snapshot. It is safe for concurrent use. Programs share the objects and must not change
// them.
//
// Len includes objects that are not of type T or cannot be decoded (see [Codec]). At returns the
// zero value for them. All and List leave them out.
type Snapshot[T any] struct {
	chunks  []*chunk
	size    int
	version *string // nil for ""
	decode  decoder
}

// Len returns the number of objects.
func (s Snapshot[T]) Len() int { return s.size }

// Version returns the indexer's resourceVersion at the time of the snapshot, or "" before the first
// list.
func (s Snapshot[T]) Version() string {
	if s.version == nil {
		return ""
	}
	return *s.version
}

// All ranges over the objects, in no particular order. It holds no lock and copies nothing: the
// loop may take any time and call anything.
func (s Snapshot[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) { s.each(yield) }
}

// each is separate from All so that the compiler inlines All into its caller. The loop then needs
// no closure on the heap.
func (s *Snapshot[T]) each(yield func(T) bool) {
	if s.decode != nil {
		s.eachDecoded(yield)
		return
	}
	for _, c := range s.chunks {
		if !eachTyped(&c.objects, yield) {
			return
		}
	}
}

// eachTyped calls yield with each object of type T, until it returns false.
func eachTyped[T any](c *column, yield func(T) bool) bool {
	if ts, ok := pointers[T](c); ok {
		for _, t := range ts {
			if !yield(t) {
				return false
			}
		}
		return true
	}
	for i := range c.len() {
		if t, ok := typed[T](c.at(i)); ok && !yield(t) {
			return false
		}
	}
	return true
}

func (s *Snapshot[T]) eachDecoded(yield func(T) bool) {
	for stored := range s.stored {
		if t, ok := read[T](s.decode, stored); ok && !yield(t) {
			return
		}
	}
}

// stored calls yield with the stored form of each object, until it returns false.
func (s *Snapshot[T]) stored(yield func(any) bool) {
	for _, c := range s.chunks {
		for i := range c.objects.len() {
			if !yield(c.objects.at(i)) {
				return
			}
		}
	}
}

// add appends an object in its stored form to a new snapshot whose chunks are not shared yet.
func (s *Snapshot[T]) add(stored any) {
	if s.size%chunkSize == 0 {
		c := new(chunk)
		if s.size > 0 {
			c.objects.words = slices.Grow(c.objects.words, chunkSize)
		}
		s.chunks = append(s.chunks, c)
	}
	s.chunks[len(s.chunks)-1].objects.add(stored)
	s.size++
}

// appendTo appends the objects of a snapshot to dst. Without a codec it costs a copy of the pointers, or a type
// assertion for each object if T is no pointer type.
func appendTo[T any](dst []T, s Snapshot[any]) []T {
	if s.decode != nil {
		for stored := range s.stored {
			if t, ok := read[T](s.decode, stored); ok {
				dst = append(dst, t)
			}
		}
		return dst
	}
	dst = slices.Grow(dst, s.size)
	for _, c := range s.chunks {
		dst = appendTyped(dst, &c.objects)
	}
	return dst
}

// appendTyped appends the objects of type T.
func appendTyped[T any](dst []T, c *column) []T {
	if ts, ok := pointers[T](c); ok {
		return append(dst, ts...)
	}
	if untyped, ok := any(&dst).(*[]any); ok {
		*untyped = c.appendTo(*untyped)
		return dst
	}
	for i := range c.len() {
		if t, ok := typed[T](c.at(i)); ok {
			dst = append(dst, t)
		}
	}
	return dst
}

// List returns the objects as a slice that belongs to the caller, or nil if there are none.
func (s Snapshot[T]) List() []T {
	if all := appendTo(make([]T, 0, s.size), Snapshot[any](s)); len(all) > 0 {
		return all
	}
	return nil
}

// list returns a copy of a snapshot for readers, with its version and decoder.
func (x *store) list(s *Snapshot[any], version *string) Snapshot[any] {
	return s.at(version, x.decoderFor(s.size))
}

// at returns a copy of the snapshot with its version and decoder.
func (s *Snapshot[T]) at(version *string, decode decoder) Snapshot[T] {
	return Snapshot[T]{chunks: s.chunks, size: s.size, version: version, decode: decode}
}

// At returns the object at position i, which must be below Len.
func (s Snapshot[T]) At(i int) T {
	obj, _ := read[T](s.decode, s.chunks[i>>chunkBits].objects.at(i%chunkSize))
	return obj
}
