package share

import (
	"hash/maphash"
	"sync"
)

const (
	// leastSlots and mostSlots bound the table, which grows while values are
	// turned away for want of a slot.
	leastSlots = 1 << 8
	mostSlots  = 1 << 14
	// seenPerSlot is how many fingerprints are remembered for each slot.
	seenPerSlot = 4
	// maxKey is the longest encoding that is shared, and budget how many values
	// one object can bring in.
	maxKey = 16 << 10
	budget = 256
	// DefaultBytes bounds a table unless the user says otherwise.
	DefaultBytes = 8 << 20
)

// Table stores equal values of the objects of one kind once.
type Table struct {
	mu     sync.Mutex
	seed   maphash.Seed
	limit  int
	gauges gauges
	left   int // of the budget of the object that is being decoded

	closed  bool     // values are not shared any more
	slots   []entry  // by hash; the number is a power of two
	seen    []uint32 // fingerprints of what was looked up in vain
	bytes   int      // of keys and values
	refused int      // values turned away since the table grew

	strings interned
	checks  *checks // nil unless changes of shared values are looked for
	stats   Stats
}

// entry is a value and the bytes that it was decoded from.
type entry struct {
	hash  uint64
	site  Site
	used  bool // since something tried to take the slot
	key   string
	value any
	size  int // of the value and the key
}

// Mark is what [Table.Find] hands to [Table.Keep]. The zero Mark keeps nothing.
type Mark struct{ hash uint64 }

// Wanted tells whether the table would keep the value that was looked up.
func (m Mark) Wanted() bool { return m.hash != 0 }

// Stats tells how well sharing works.
type Stats struct {
	Found, Missed uint64 // look-ups of values
	Values, Bytes int    // held by the table
}

// New returns a table that holds at most limit bytes, keys and values
// together; zero stands for [DefaultBytes].
func New(limit int) *Table {
	if limit == 0 {
		limit = DefaultBytes
	}
	t := &Table{seed: maphash.MakeSeed(), limit: limit}
	t.strings.seed = t.seed
	return t
}

// Lock takes the table for the decoding of one object.
func (t *Table) Lock() {
	if t == nil {
		return
	}
	t.mu.Lock()
	t.left = budget
}

// Unlock gives the table back.
func (t *Table) Unlock() {
	if t != nil {
		t.mu.Unlock()
	}
}

// Find returns the value that was decoded from equal bytes at a site before.
// Without one it returns nil, and a mark that tells whether the decoded value
// is to be handed to [Table.Keep]. The caller holds the table.
func (t *Table) Find(site Site, encoded []byte) (value any, m Mark) {
	if t == nil || t.closed || len(encoded) > maxKey {
		return nil, Mark{}
	}
	g := t.gauges.of(site)
	if !g.open() {
		return nil, Mark{}
	}
	if t.slots == nil {
		t.resize(leastSlots)
	}
	h := t.hash(site, encoded)
	e := t.slot(h)
	if e.hash == h && e.site == site && e.key == string(encoded) {
		e.used = true
		g.found++
		t.stats.Found++
		t.checks.shared(h)
		return e.value, Mark{}
	}
	t.stats.Missed++
	if !t.secondSight(h) {
		return nil, Mark{}
	}
	return nil, Mark{h}
}

// Keep stores the value that was decoded from encoded, which it copies. Size is
// about what the value takes in memory. The value and all that it refers to
// must never be written again. The caller holds the table.
func (t *Table) Keep(m Mark, site Site, encoded []byte, value any, size int) {
	if !m.Wanted() || t.closed || t.left == 0 {
		return
	}
	e := t.slot(m.hash)
	cost := len(encoded) + size
	if e.used || t.bytes-e.size+cost > t.limit {
		e.used = false
		t.turnAway()
		return
	}
	t.left--
	if e.value != nil {
		t.refused++ // two values want one slot
	}
	t.bytes += cost - e.size
	*e = entry{hash: m.hash, site: site, key: string(encoded), value: value, size: cost}
	t.checks.kept(e)
}

// Close ends the sharing of values; strings, which nobody can write into, are
// shared on. It may be called from any goroutine that does not hold the table.
func (t *Table) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()

	t.closed, t.slots, t.seen, t.bytes = true, nil, nil, 0
}

// Stats may be called from any goroutine that does not hold the table.
func (t *Table) Stats() Stats {
	if t == nil {
		return Stats{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()

	s := t.stats
	s.Bytes = t.bytes
	for i := range t.slots {
		if t.slots[i].value != nil {
			s.Values++
		}
	}
	return s
}

func (t *Table) hash(site Site, encoded []byte) uint64 {
	h := maphash.Bytes(t.seed, encoded) ^ (uint64(site)+1)*0x9e3779b97f4a7c15
	return max(h, 1)
}

func (t *Table) slot(h uint64) *entry { return &t.slots[h&uint64(len(t.slots)-1)] }

// secondSight tells whether something of this hash was looked up before.
func (t *Table) secondSight(h uint64) bool {
	fingerprint := uint32(h>>32) | 1
	s := &t.seen[h&uint64(len(t.seen)-1)]
	if *s == fingerprint {
		return true
	}
	*s = fingerprint
	return false
}

// turnAway counts a value that found no place, and grows the table where that
// happens often.
func (t *Table) turnAway() {
	t.refused++
	if t.refused > len(t.slots)/2 && len(t.slots) < mostSlots {
		t.resize(2 * len(t.slots))
	}
}

func (t *Table) resize(n int) {
	old := t.slots
	t.slots, t.seen, t.refused = make([]entry, n), make([]uint32, n*seenPerSlot), 0
	for i := range old {
		if old[i].value != nil {
			*t.slot(old[i].hash) = old[i]
		}
	}
}
