package share

import "hash/maphash"

const (
	// longestString is the longest string that is stored once: longer ones are
	// hardly ever equal.
	longestString = 256
	leastStrings  = 1 << 8
	mostStrings   = 1 << 15
)

// interned is a set of strings, in which each hash has two slots that lie side
// by side. The newest string takes the first one.
type interned struct {
	seed     maphash.Seed
	slots    []string
	replaced int // since the set grew
}

// String returns the string of these bytes, one that was returned before where
// there is one. The caller holds the table.
func (t *Table) String(site Site, b []byte) string {
	if t == nil || len(b) < 2 || len(b) > longestString {
		return string(b)
	}
	g := t.gauges.of(site)
	if !g.open() {
		return string(b)
	}
	s, found := t.strings.of(b)
	if found {
		g.found++
	}
	return s
}

func (i *interned) of(b []byte) (s string, found bool) {
	if i.slots == nil {
		i.slots = make([]string, leastStrings)
	}
	at := maphash.Bytes(i.seed, b) & uint64(len(i.slots)-2)
	first, second := &i.slots[at], &i.slots[at+1]
	if *first == string(b) {
		return *first, true
	}
	if *second == string(b) {
		*first, *second = *second, *first
		return *first, true
	}
	s = string(b)
	if *second != "" {
		i.replaced++
	}
	*first, *second = s, *first
	if i.replaced > 2*len(i.slots) && len(i.slots) < mostStrings {
		i.grow()
	}
	return s, false
}

func (i *interned) grow() {
	old := i.slots
	i.slots, i.replaced = make([]string, 2*len(old)), 0
	for n := len(old) - 1; n >= 0; n-- { // the newer one of two comes last
		if s := old[n]; s != "" {
			at := maphash.String(i.seed, s) & uint64(len(i.slots)-2)
			i.slots[at], i.slots[at+1] = s, i.slots[at]
		}
	}
}
