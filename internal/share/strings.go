package share

import (
	"hash/maphash"
	"slices"

	"github.com/tidemark-k8s/tidemark/internal/verify"
)

const (
	// longestString is the length of the longest shared string. Longer strings are hardly ever equal.
	longestString = 256
	leastStrings  = 1 << 6
	mostStrings   = 1 << 14
)

// interned is a set of strings, in buckets by hash. A new string takes the last slot of its bucket, and
// a used string moves one slot ahead.
//
// Invariant: bytes is the sum of the lengths of all strings, and at most limit.
type interned struct {
	seed     maphash.Seed
	slots    []slot // the number is a power of two
	bytes    int
	limit    int
	replaced int // since the last growth
}

// slot is free if its string is empty.
type slot struct {
	tag   uint32 // bits of the hash
	s     string
	boxed any // the string as an interface, made by the first call of Boxed
}

// String returns the bytes as a string. If the table stores an equal string, it returns that string.
// Sites of strings and sites of values must differ. The caller holds the table's lock.
func (t *Table) String(site Site, b []byte) string {
	if e := t.interned(site, b); e != nil {
		return e.s
	}
	return string(b)
}

// Boxed is String for a field of type any. It also shares the interface's pointer to the string.
func (t *Table) Boxed(site Site, b []byte) any {
	e := t.interned(site, b)
	if e == nil {
		return string(b)
	}
	if e.boxed == nil {
		e.boxed = e.s
	}
	return e.boxed
}

// interned returns the slot of a string, or nil if the string is not stored. The slot is valid until the
// next call.
func (t *Table) interned(site Site, b []byte) *slot {
	if t == nil || len(b) < 2 || len(b) > longestString {
		return nil
	}
	h := maphash.Bytes(t.seed, b)
	g := t.gauges.of(site)
	if !g.open(h) {
		return nil
	}
	e, found := t.strings.of(h, b)
	if found {
		g.again++
	}
	return e
}

// of returns the slot of a string, and stores a new string. If there is no room, it returns nil.
func (i *interned) of(h uint64, encoded []byte) (e *slot, found bool) {
	if i.slots == nil {
		i.slots = make([]slot, leastStrings)
	}
	if i.replaced > len(i.slots)/4 && len(i.slots) < mostStrings {
		i.grow()
	}
	b, tag := i.bucket(h), uint32(h>>24) //nolint:gosec // some bits
	for n := range b {
		if b[n].tag == tag && b[n].s == string(encoded) {
			ahead := max(n-1, 0)
			b[n], b[ahead] = b[ahead], b[n]
			return &b[ahead], true
		}
	}
	if e = i.vacancy(b, len(encoded)); e != nil {
		*e = slot{tag: tag, s: string(encoded)}
	}
	return e, false
}

// vacancy returns the slot in a bucket for a new string: the first free slot, or else the last. It adds
// the string's length to bytes. If the limit does not allow the string, vacancy returns nil.
func (i *interned) vacancy(b []slot, length int) *slot {
	n := slices.IndexFunc(b, func(e slot) bool { return e.s == "" })
	if n < 0 {
		n = len(b) - 1
		i.replaced++
	}
	bytes := i.bytes + length - len(b[n].s)
	if bytes > i.limit {
		return nil
	}
	i.bytes = bytes
	return &b[n]
}

func (i *interned) bucket(h uint64) []slot {
	n := h & uint64(len(i.slots)-1) &^ (bucket - 1)
	return i.slots[n : n+bucket]
}

// grow doubles the number of slots. The strings of one bucket move to two.
func (i *interned) grow() {
	old := i.slots
	*i = interned{seed: i.seed, limit: i.limit, slots: make([]slot, 2*len(old))}
	for _, e := range old {
		if e.s != "" {
			if to := i.vacancy(i.bucket(maphash.String(i.seed, e.s)), len(e.s)); to != nil {
				*to = e
			}
		}
	}
}

// verify panics if an invariant does not hold.
func (i *interned) verify() {
	total := 0
	for n, e := range i.slots {
		total += len(e.s)
		b := i.bucket(maphash.String(i.seed, e.s))
		verify.That(e.s == "" || &b[0] == &i.slots[n&^(bucket-1)], "%q is not in the bucket of its hash", e.s)
	}
	verify.That(total == i.bytes && i.bytes <= max(i.limit, 0), "strings of %d bytes are counted as %d bytes with a limit of %d", total, i.bytes, i.limit)
}
