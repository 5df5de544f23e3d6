package share

import "hash/maphash"

const (
	// longestString is the longest string that is stored once: longer ones are
	// hardly ever equal.
	longestString = 256
	leastPairs    = 1 << 7
	mostPairs     = 1 << 14
)

// interned is a set of strings, in which each hash has a pair of places. The
// newest string takes the first one.
type interned struct {
	seed     maphash.Seed
	pairs    []pair
	replaced int // since the set grew
}

// pair holds two strings and a part of the hash of each, so that hardly any but
// equal ones are compared: each look into a string is one into cold memory.
type pair struct {
	hashes  [2]uint32
	strings [2]string
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
	if i.pairs == nil {
		i.pairs = make([]pair, leastPairs)
	}
	h := maphash.Bytes(i.seed, b)
	p, part := i.pair(h), uint32(h>>32)
	for n := range p.strings {
		if p.hashes[n] == part && p.strings[n] == string(b) {
			return p.strings[n], true
		}
	}
	if p.strings[1] != "" {
		i.replaced++
	}
	s = string(b)
	p.push(part, s)
	if i.replaced > 4*len(i.pairs) && len(i.pairs) < mostPairs {
		i.grow()
	}
	return s, false
}

func (i *interned) pair(h uint64) *pair { return &i.pairs[h&uint64(len(i.pairs)-1)] }

func (p *pair) push(part uint32, s string) {
	p.hashes = [2]uint32{part, p.hashes[0]}
	p.strings = [2]string{s, p.strings[0]}
}

func (i *interned) grow() {
	old := i.pairs
	i.pairs, i.replaced = make([]pair, 2*len(old)), 0
	for o := range old {
		for n := len(old[o].strings) - 1; n >= 0; n-- { // the newer one comes last
			if s := old[o].strings[n]; s != "" {
				h := maphash.String(i.seed, s)
				i.pair(h).push(uint32(h>>32), s)
			}
		}
	}
}
