package share

import (
	"hash/maphash"
	"sync"
)

const (
	// leastSlots and mostSlots bound the table, which grows while values are
	// turned away for want of a slot.
	leastSlots = 1 << 8
	mostSlots  = 1 << 15
	// ways is how many slots a value can take: those whose numbers differ in
	// the last bit.
	ways = 2
	// swept is how many slots are looked at for a value to be let go.
	swept = 8
	// leastSeen and mostSeen bound the places for fingerprints of values that
	// were seen once, of which each has a few.
	leastSeen = 1 << 8
	mostSeen  = 1 << 14
	perPlace  = 4
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

	closed    bool               // values are not shared any more
	slots     []entry            // by hash; the number is a power of two
	seen      [][perPlace]uint32 // fingerprints of what was looked up in vain, newest first
	forgotten int                // fingerprints since there were more places
	bytes     int                // of keys and values
	hand      uint64             // the slot at which values are let go next
	refused   int                // values that found their place taken since the table grew

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
		t.seen = make([][perPlace]uint32, leastSeen)
	}
	h := t.hash(site, encoded)
	for way := range uint64(ways) {
		e := t.slot(h ^ way)
		if e.hash == h && e.site == site && e.key == string(encoded) {
			e.used = true
			g.found++
			t.stats.Found++
			t.checks.shared(h)
			return e.value, Mark{}
		}
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
	cost := len(encoded) + size
	t.makeRoom(cost)
	e := t.place(m.hash)
	if e == nil || t.bytes-e.size+cost > t.limit {
		t.turnAway(m.hash)
		return
	}
	if e.value != nil && t.crowded() {
		e = t.place(m.hash)
	}
	t.left--
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

// makeRoom lets some values go, where the table holds too many bytes: those that
// nothing has used since the hand came by the last time.
func (t *Table) makeRoom(cost int) {
	for range swept {
		if t.bytes+cost <= t.limit {
			return
		}
		e := t.slot(t.hand)
		t.hand++
		if !e.used {
			t.bytes -= e.size
			*e = entry{}
		}
		e.used = false
	}
}

// place returns the slot for a new value: an empty one, or one that was not
// used since something else tried to take it.
func (t *Table) place(h uint64) *entry {
	var free *entry
	for way := range uint64(ways) {
		switch e := t.slot(h ^ way); {
		case e.value == nil:
			return e
		case !e.used:
			free = e
		}
	}
	return free
}

// secondSight tells whether something of this hash was looked up before.
func (t *Table) secondSight(h uint64) bool {
	fingerprint := uint32(h>>32) | 1
	s := &t.seen[h&uint64(len(t.seen)-1)]
	for _, f := range s {
		if f == fingerprint {
			return true
		}
	}
	if s[perPlace-1] != 0 {
		t.forget()
	}
	copy(s[1:], s[:])
	s[0] = fingerprint
	return false
}

// forget counts a fingerprint that makes place for another one, and makes more
// places where that happens often.
func (t *Table) forget() {
	t.forgotten++
	if t.forgotten > perPlace*len(t.seen) && len(t.seen) < mostSeen {
		t.seen, t.forgotten = append(t.seen, t.seen...), 0 // each is found in both halves
	}
}

// turnAway leaves a value without a place. The next one may have it, unless
// what is there is used till then.
func (t *Table) turnAway(h uint64) {
	for way := range uint64(ways) {
		t.slot(h ^ way).used = false
	}
	t.crowded()
}

// crowded counts values that wanted the same place, and makes the table larger
// where there were many. It tells whether it did.
func (t *Table) crowded() bool {
	t.refused++
	if t.refused <= len(t.slots)/2 || len(t.slots) == mostSlots {
		return false
	}
	t.resize(2 * len(t.slots))
	return true
}

func (t *Table) resize(n int) {
	old := t.slots
	t.slots, t.refused = make([]entry, n), 0
	for i := range old {
		if old[i].value != nil {
			*t.place(old[i].hash) = old[i]
		}
	}
}
