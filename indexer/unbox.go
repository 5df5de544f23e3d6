package indexer

import "iter"

// Unbox returns a typed view of an indexer of anything, for a store whose Go
// type was known only when the program ran. Every object in it must be a T; one
// that is not reads as the zero value. The view costs a type assertion for each
// object read.
func Unbox[T any](x *Indexer[any]) *Indexer[T] { return &Indexer[T]{boxed: x} }

func unboxed[T any](boxed any, ok bool) (T, bool) {
	obj, _ := boxed.(T)
	return obj, ok
}

func unboxedSnapshot[T any](s Snapshot[any]) Snapshot[T] {
	return Snapshot[T]{boxed: &s, size: s.size, version: s.version}
}

func unboxedAll[T any](s *Snapshot[any]) iter.Seq[T] {
	return func(yield func(T) bool) {
		for boxed := range s.All() {
			if obj, _ := unboxed[T](boxed, true); !yield(obj) {
				return
			}
		}
	}
}

func unboxedList[T any](boxed []any) []T {
	if boxed == nil {
		return nil
	}
	list := make([]T, len(boxed))
	for i := range boxed {
		list[i], _ = unboxed[T](boxed[i], true)
	}
	return list
}
