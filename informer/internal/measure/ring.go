package measure

import "iter"

// ring holds the last few values added to it.
type ring[T any] struct {
	places []T
	next   int // place of the next value
	full   bool
}

func newRing[T any](size int) ring[T] { return ring[T]{places: make([]T, size)} }

// add adds a value. If the ring is full, it replaces the oldest.
func (r *ring[T]) add(t T) {
	r.places[r.next] = t
	if r.next++; r.next == len(r.places) {
		r.next, r.full = 0, true
	}
}

func (r *ring[T]) len() int {
	if r.full {
		return len(r.places)
	}
	return r.next
}

// last ranges over the last n values, or all if there are fewer, the newest last.
func (r *ring[T]) last(n int) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		n := min(n, r.len())
		at := r.next - n
		if at < 0 {
			at += len(r.places)
		}
		for ; n > 0; n-- {
			if !yield(&r.places[at]) {
				return
			}
			if at++; at == len(r.places) {
				at = 0
			}
		}
	}
}
