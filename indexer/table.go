package indexer

import (
	"hash/maphash"
	"math/bits"
	"sync/atomic"
)

// groupSize is the number of slots of a group. With its tags, a group fills a cache line of the
// processor, and most look-ups read one group.
const groupSize = 7

// group is a run of slots with a tag for each: one byte of its key's hash. A reader may see a tag
// and a slot of different moments, so it always compares the key.
//
// Invariant: a slot is nil if its tag is empty or tombstone, and otherwise its tag is its
// key's. A slot once filled is never empty again, so that no reader's probe sequence breaks.
type group[V any] struct {
	tags  atomic.Uint64 // the byte left over is a tombstone
	slots [groupSize]atomic.Pointer[node[V]]
}

// The tags. A key's tag has the highest bit set.
const (
	empty     = 0x00
	tombstone = 0x01

	everyByte = 0x0101010101010101
	noSlots   = uint64(tombstone) << (8 * groupSize)
)

// table is a hash table from keys to nodes, with open addressing and linear probing by groups,
// for one writer and any number of readers. Readers take no lock.
//
// Invariant: live <= used <= 4/5 of the slots; used counts the tombstones too.
type table[V any] struct {
	groups atomic.Pointer[[]group[V]] // replaced as a whole when the table grows
	seed   maphash.Seed
	factor uint64 // odd, derived from the seed

	live, used int // only the writer uses them
}

// newTable returns a table with room for size nodes before it grows.
func newTable[V any](size int) *table[V] {
	t := &table[V]{seed: maphash.MakeSeed()}
	t.factor = maphash.String(t.seed, "") | 1
	t.groups.Store(newGroups[V](size * 5 / 4))
	return t
}

func newGroups[V any](slots int) *[]group[V] {
	groups := make([]group[V], slots/groupSize+1)
	for i := range groups {
		groups[i].tags.Store(noSlots)
	}
	return &groups
}

func (t *table[V]) full(groups []group[V]) bool {
	return (t.used+1)*5 > len(groups)*groupSize*4
}

// start returns the group where the probe for key begins, and the key's tag. It scales the hash to
// the number of groups, which need not be a power of two.
func (t *table[V]) start(key Key, groups int) (i int, tag uint64) {
	h := t.hash(key)
	high, _ := bits.Mul64(h, uint64(groups)) //nolint:gosec // a slice length is not negative
	return int(high), h&0x7f | 0x80          //nolint:gosec // below groups
}

// hash mixes the namespace into the hash of the name, eight bytes at a time. Calling maphash
// for a short namespace would be a fifth of a look-up.
func (t *table[V]) hash(key Key) uint64 {
	h := maphash.String(t.seed, key.Name)
	s := key.Namespace
	for ; len(s) >= 8; s = s[8:] {
		h = t.mix(h, word(s))
	}
	if s == "" {
		return h
	}
	last := uint64(len(s))
	for i := range len(s) {
		last = last<<8 | uint64(s[i])
	}
	return t.mix(h, last)
}

// mix multiplies by a secret number and folds the product, as wyhash does.
func (t *table[V]) mix(h, word uint64) uint64 {
	high, low := bits.Mul64(h^word, t.factor)
	return high ^ low
}

// word returns the first eight bytes of s. The compiler turns it into one load.
func word(s string) uint64 {
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// matches sets the highest bit of each byte of tags that equals tag. It may also set the highest
// bit of some bytes above a match.
func matches(tags, tag uint64) uint64 {
	x := tags ^ tag*everyByte
	return (x - everyByte) &^ x & (everyByte << 7) &^ (0xff << (8 * groupSize))
}

// first returns the slot of the lowest match.
func first(matches uint64) int { return bits.TrailingZeros64(matches) / 8 }

// get returns the node of key, or nil. Safe for any goroutine.
func (t *table[V]) get(key Key) *node[V] {
	groups := *t.groups.Load()
	i, tag := t.start(key, len(groups))
	for {
		g := &groups[i]
		tags := g.tags.Load()
		for m := matches(tags, tag); m != 0; m &= m - 1 {
			if n := g.slots[first(m)].Load(); n != nil && n.is(key) {
				return n
			}
		}
		if matches(tags, empty) != 0 {
			return nil
		}
		if i++; i == len(groups) {
			i = 0
		}
	}
}

// spot is the position of a key in a table, or the position where its node goes.
type spot[V any] struct {
	group *group[V]
	slot  int
	tag   uint64
}

// find returns the spot of key and its node, or nil. Only the writer calls it.
func (t *table[V]) find(key Key, groups []group[V]) (p spot[V], n *node[V]) {
	i, tag := t.start(key, len(groups))
	p.tag = tag
	for {
		g := &groups[i]
		tags := g.tags.Load()
		for m := matches(tags, tag); m != 0; m &= m - 1 {
			if n := g.slots[first(m)].Load(); n != nil && n.is(key) {
				return spot[V]{g, first(m), tag}, n
			}
		}
		free := matches(tags, empty)
		if m := matches(tags, tombstone); p.group == nil && m != 0 {
			p.group, p.slot = g, first(m)
		}
		if free != 0 {
			if p.group == nil {
				p.group, p.slot = g, first(free)
			}
			return p, nil
		}
		if i++; i == len(groups) {
			i = 0
		}
	}
}

// reserve returns the spot of key and its node, or nil. It grows the table if there is no room
// for a new node. The spot holds until the next write. Only the writer calls it.
func (t *table[V]) reserve(key Key) (spot[V], *node[V]) {
	groups := *t.groups.Load()
	if t.full(groups) {
		groups = t.grow()
	}
	return t.find(key, groups)
}

// publish stores a node at the spot that reserve has found for its key. Readers find the node
// once its tag is set.
func (t *table[V]) publish(p spot[V], n *node[V]) {
	p.group.slots[p.slot].Store(n)
	if was := p.group.setTag(p.slot, p.tag); was == empty {
		t.used++
	}
	t.live++
}

// remove deletes the node of key and returns it, or nil.
func (t *table[V]) remove(key Key) (old *node[V]) {
	p, old := t.find(key, *t.groups.Load())
	if old == nil {
		return nil
	}
	p.group.slots[p.slot].Store(nil)
	p.group.setTag(p.slot, tombstone)
	t.live--
	return old
}

// setTag replaces the tag of a slot and returns the one before.
func (g *group[V]) setTag(slot int, tag uint64) (was uint64) {
	tags, shift := g.tags.Load(), 8*slot
	g.tags.Store(tags&^(0xff<<shift) | tag<<shift)
	return tags >> shift & 0xff
}

// grow moves the live nodes into a new array that is at least half as large again, and drops the
// tombstones. A reader in the old array finishes there.
func (t *table[V]) grow() []group[V] {
	next := newGroups[V]((t.live + 1) * 15 / 8)
	t.live, t.used = 0, 0
	for n := range t.all {
		p, _ := t.find(n.view(), *next)
		t.publish(p, n)
	}
	t.groups.Store(next)
	return *next
}

// all calls yield for every node until it returns false. Readers may call it. It may or may not
// show concurrent writes.
func (t *table[V]) all(yield func(*node[V]) bool) {
	groups := *t.groups.Load()
	for i := range groups {
		for s := range groups[i].slots {
			if n := groups[i].slots[s].Load(); n != nil && !yield(n) {
				return
			}
		}
	}
}
