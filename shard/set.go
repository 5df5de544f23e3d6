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

// Field says what of an object is hashed. It is a choice that a program has to make: the zero value is
// invalid.
type Field uint8

const (
	// ByUID keeps nothing together. An object and its children, and an object and the one re-created under
	// its name, may be in two shares. So never count children in a ByUID cache, own writes included: a child
	// that a program has created may hash elsewhere, is never shown, and is created for ever. Nor can a work
	// item that holds a name alone say whose it is after the object is gone: put the uid into it, or use
	// finalizers.
	//
	// It hashes metadata.uid, and divides the objects evenly.
	ByUID Field = iota + 1
	// ByNamespace does not divide evenly: a share has whole namespaces, and the hashes of similar names lie
	// close together. With 1,000 namespaces named tenant-0001 and so on, the largest of 4 equal ranges has
	// 2.4 times the mean, and one is empty. Of a cluster-scoped kind, whose objects have no namespace, a share
	// holds all objects or none. A typed factory, which knows these kinds, refuses it.
	//
	// It hashes metadata.namespace. The objects of a namespace stay together, children too.
	ByNamespace
)

// Range is the hashes from From up to To, without To itself. To 0 is the end of the ring, so that the zero
// Range is the whole ring.
type Range struct{ From, To uint64 }

// Set is a part of the ring: ranges of the hashes of one field. It never changes. The zero value has no
// field, and holds nothing.
type Set struct {
	field Field
	// ranges hold each hash of the set once.
	//
	// Invariant: ranges[i].From < ranges[i].To, and ranges[i].To < ranges[i+1].From; the last To may be 0.
	ranges []Range
}

// Of returns the set of some ranges of a field, in any order; ranges may overlap. Without ranges it is
// empty. Its errors are ErrField and ErrRange.
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

// Whole returns the set of all hashes of a field. For an invalid field it is the zero Set, which an informer
// refuses.
func Whole(f Field) Set {
	if !f.valid() {
		return Set{}
	}
	return Set{f, []Range{{}}}
}

// Nth returns one of total sets that divide the ring equally. The first index is 0. Its errors are ErrField
// and ErrNth.
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

// ParseNth reads an index and a total, as in "0/3", for [Nth]: decimal numbers without signs. Its error is
// ErrNth.
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

// Field returns the field that is hashed. It is invalid in the zero Set alone.
func (s Set) Field() Field { return s.field }

// Ranges yields the ranges in ascending order. Between two of them there is always a gap.
func (s Set) Ranges() iter.Seq[Range] { return slices.Values(s.ranges) }

// empty reports whether the set holds nothing.
func (s Set) empty() bool { return len(s.ranges) == 0 }

// isWhole reports whether the set is the whole ring.
func (s Set) isWhole() bool { return len(s.ranges) == 1 && s.ranges[0] == Range{} }

// Has reports whether an object is in the set, by the one of its namespace and uid that the set's field
// names. The other one is not looked at. A cluster-scoped object has the namespace "".
func (s Set) Has(namespace string, uid types.UID) bool {
	if s.field == ByNamespace {
		return s.contains(Hash(namespace))
	}
	return s.contains(Hash(string(uid)))
}

// contains looks for a hash in the last range that does not begin behind it.
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

// fraction returns which part of the ring the set is: from 0 to 1. Of objects it holds about that part
// ByUID, and any part ByNamespace.
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

// before reports whether a hash is in front of the end of a range.
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
