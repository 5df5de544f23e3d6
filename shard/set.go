package shard

import (
	"cmp"
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Field says which field of an object is hashed. A program must choose: the zero value is invalid.
type Field uint8

const (
	// ByUID keeps nothing together. An object and its children may be in different shares, and so
	// may an object and its successor of the same name. So never count children in a ByUID cache,
	// even with own writes: a new child may hash to another share, never appear in the cache, and
	// be created again and again. A work item that has only a name does not say, after the object
	// is gone, whose share the object was in: add the UID, or use finalizers.
	//
	// It hashes metadata.uid and divides the objects evenly.
	ByUID Field = iota + 1
	// ByNamespace does not divide evenly: a share has whole namespaces, and the hashes of similar
	// names are close together. With 1,000 namespaces named tenant-0001 and so on, the largest of 4
	// equal ranges has 2.4 times the mean, and one range is empty. Objects of a cluster-scoped kind
	// have no namespace, so a share has all of them or none. Typed factories refuse ByNamespace for
	// these kinds.
	//
	// It hashes metadata.namespace. The objects of a namespace stay together, including children.
	ByNamespace
)

// Range is the hashes from From up to, but not including, To. A To of 0 is the end of the ring, so
// the zero Range is the whole ring.
type Range struct{ From, To uint64 }

// Set is a part of the ring: ranges of the hashes of a field. It never changes. The zero value is
// empty and has no field.
type Set struct {
	field Field
	// ranges contain each hash of the set once.
	//
	// Invariant: ranges[i].From < ranges[i].To, and ranges[i].To < ranges[i+1].From; the last To may be 0.
	ranges []Range
}

// Of returns the set of ranges of a field. Ranges may be in any order and may overlap. Without
// ranges the set is empty. The errors are ErrField and ErrRange.
func Of(f Field, ranges ...Range) (Set, error) {
	if !f.valid() {
		return Set{}, fmt.Errorf("%w, not %d", ErrField, f)
	}
	for _, r := range ranges {
		if r.To != 0 && r.From >= r.To {
			return Set{}, fmt.Errorf("%w, unlike [%s, %s)", ErrRange, position(r.From), end(r.To))
		}
	}
	return Set{f, joined(ranges)}, nil
}

// Whole returns the set of all hashes of a field. For an invalid field it returns the zero Set,
// which an informer refuses.
func Whole(f Field) Set {
	if !f.valid() {
		return Set{}
	}
	return Set{f, []Range{{}}}
}

// Nth divides the ring equally into total sets and returns one of them. The first index is 0. The
// errors are ErrField and ErrNth.
func Nth(f Field, index, total int) (Set, error) {
	if index < 0 || index >= total {
		return Set{}, fmt.Errorf("%w, not %d/%d", ErrNth, index, total)
	}
	return Of(f, Range{cut(index, total), cut(index+1, total)})
}

// cut returns where set i of total sets begins.
func cut(i, total int) uint64 {
	if i == total {
		return 0
	}
	at, _ := bits.Div64(uint64(i), 0, uint64(total))
	return at
}

// ParseNth parses an index and a total for [Nth], as in "0/3": decimal numbers without signs. Its
// error is ErrNth.
func ParseNth(text string) (index, total int, err error) {
	first, second, _ := strings.Cut(text, "/")
	index, ok := number(first)
	total, fine := number(second)
	if !ok || !fine || index >= total {
		return 0, 0, fmt.Errorf("%w, not %.40q", ErrNth, text)
	}
	return index, total, nil
}

// number reads a decimal number without a sign.
func number(text string) (n int, ok bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && text[0] >= '0' && text[0] <= '9'
}

// Field returns the field that is hashed. Only the zero Set has an invalid field.
func (s Set) Field() Field { return s.field }

// Ranges yields the ranges in ascending order. There is a gap between any two of them.
func (s Set) Ranges() iter.Seq[Range] { return slices.Values(s.ranges) }

// empty reports whether the set is empty.
func (s Set) empty() bool { return len(s.ranges) == 0 }

// isWhole reports whether the set is the whole ring.
func (s Set) isWhole() bool { return len(s.ranges) == 1 && s.ranges[0] == Range{} }

// Has reports whether an object is in the set. It uses only the namespace or the UID, depending on
// the set's field. A cluster-scoped object has the namespace "".
func (s Set) Has(namespace string, uid types.UID) bool {
	if s.field == ByNamespace {
		return s.contains(Hash(namespace))
	}
	return s.contains(Hash(string(uid)))
}

// contains looks for a hash in the last range that does not begin after it.
func (s Set) contains(hash uint64) bool {
	low, high := 0, len(s.ranges)
	for low < high {
		if middle := (low + high) / 2; s.ranges[middle].From <= hash {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low > 0 && before(hash, s.ranges[low-1].To)
}

// Equal reports whether two sets have the same field and the same hashes.
func (s Set) Equal(other Set) bool {
	return s.field == other.field && slices.Equal(s.ranges, other.ranges)
}

// fraction returns the set's part of the ring, from 0 to 1. With ByUID the set has about that part
// of the objects, with ByNamespace any part.
func (s Set) fraction() float64 {
	if s.isWhole() {
		return 1
	}
	var hashes uint64
	for _, r := range s.ranges {
		hashes += r.To - r.From
	}
	return float64(hashes) / (1 << 64)
}

// String describes the set for people: its field, its part of the ring, and its first ranges.
func (s Set) String() string {
	field := "no field"
	switch s.field {
	case ByUID:
		field = "uid"
	case ByNamespace:
		field = "namespace"
	}
	if s.empty() {
		return field + ": nothing"
	}
	text := fmt.Sprintf("%s: %.3g%% of the ring", field, 100*s.fraction())
	for i, r := range s.ranges {
		if i == 4 {
			return fmt.Sprintf("%s and %d more", text, len(s.ranges)-i)
		}
		text += fmt.Sprintf(", [%s, %s)", position(r.From), end(r.To))
	}
	return text
}

func (f Field) valid() bool { return f == ByUID || f == ByNamespace }

// before reports whether a hash is before the end of a range.
func before(hash, to uint64) bool { return to == 0 || hash < to }

// joined sorts ranges and joins those that overlap or touch.
func joined(ranges []Range) []Range {
	var all []Range
	for _, r := range slices.SortedFunc(slices.Values(ranges), func(a, b Range) int { return cmp.Compare(a.From, b.From) }) {
		switch last := len(all) - 1; {
		case last < 0 || all[last].To != 0 && all[last].To < r.From:
			all = append(all, r)
		case all[last].To != 0 && (r.To == 0 || all[last].To < r.To):
			all[last].To = r.To
		}
	}
	return all
}
