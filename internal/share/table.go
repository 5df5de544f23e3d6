package share

import (
	"hash/maphash"
	"sync"

	"github.com/tidemark-k8s/tidemark/internal/verify"
)

const (
	// leastSlots and mostSlots limit the number of slots. The table grows while values find no slot. A
	// value can take any slot of its bucket.
	leastSlots = 1 << 5
	mostSlots  = 1 << 14
	bucket     = 4
	// bytesPerSlot limits the number of slots in a small table.
	bytesPerSlot = 128
	// maxKey is the length of the longest encoding that is shared. One object adds at most budget values,
	// and at most maxHashed of its bytes are hashed.
	maxKey    = 16 << 10
	budget    = 256
	maxHashed = 8 << 20
	// To make room for a value, the table examines at most sweep other values. One value takes at most
	// 1/mostOfLimit of the table.
	sweep       = 32
	mostOfLimit = 8
	// DefaultBytes is the default limit of a table.
	DefaultBytes = 8 << 20
)

// Table stores equal values of the objects of one kind once.
//
// Invariant: values is the number of non-empty entries, and bytes is the sum of their sizes. bytes is at
// most limit.
type Table struct {
	mu     sync.Mutex
	seed   maphash.Seed
	limit  int
	gauges gauges
	left   int // remaining budget of the current object
	hashed int // hashed bytes of the current object

	slots   []entry // in buckets by hash; the number is a power of two
	seen    seen
	values  int
	bytes   int // size of keys and values
	hand    int // the slot where the search for room continues
	refused int // values refused or removed since the last growth because no slot was free

	unverified int // objects since the last check of the invariants

	strings interned
	stats   Stats
}

// entry is a value with its encoded bytes. The value of an empty slot is nil.
type entry struct {
	hash  uint64
	site  Site
	used  bool // since the last attempt to take the slot
	key   string
	value any
	size  int // size of the value and the key
}

// Mark passes a hash from [Table.Find] to [Table.Keep]. With the zero Mark, Keep does nothing.
type Mark struct{ hash uint64 }

// Wanted reports whether the table would keep the value.
func (m Mark) Wanted() bool { return m.hash != 0 }

// Stats are a table's statistics.
type Stats struct {
	Found, Missed uint64 // value look-ups
	Values, Bytes int    // in the table
}

// New returns a table that holds at most limit bytes of keys and values. Zero means [DefaultBytes].
func New(limit int) *Table {
	if limit == 0 {
		limit = DefaultBytes
	}
	t := &Table{seed: maphash.MakeSeed(), limit: limit}
	t.strings = interned{seed: t.seed, limit: limit / 8}
	return t
}

// Lock locks the table while one object is decoded.
func (t *Table) Lock() {
	if t == nil {
		return
	}
	t.mu.Lock()
	t.left, t.hashed = budget, 0
}

// Unlock unlocks the table.
func (t *Table) Unlock() {
	if t == nil {
		return
	}
	if t.unverified++; verify.On && t.unverified > len(t.slots)+len(t.strings.slots) {
		t.unverified = 0 // so that the cost per object is constant
		t.verify()
	}
	t.mu.Unlock()
}

// Unlocked calls a user's function without the lock while an object is being decoded. The object's
// budget is not reset. Marks from before the call are not used after it.
func (t *Table) Unlocked(call func()) {
	if t == nil {
		call()
		return
	}
	left, hashed := t.left, t.hashed
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		t.left, t.hashed = left, hashed
	}()
	call()
}

// Find returns the value at a site with equal encoded bytes. If there is none, Find returns nil and a
// mark for [Table.Keep]. The caller holds the table's lock.
func (t *Table) Find(site Site, encoded []byte) (value any, m Mark) {
	if t == nil || len(encoded) > maxKey || t.hashed > maxHashed {
		return nil, Mark{}
	}
	t.hashed += len(encoded)
	h := t.hash(site, encoded)
	g := t.gauges.of(site)
	if !g.open(h) {
		return nil, Mark{}
	}
	if t.slots == nil {
		t.slots = make([]entry, leastSlots)
	}
	if e := t.entry(h, site, encoded); e != nil {
		e.used = true
		g.again++
		t.stats.Found++
		return e.value, Mark{}
	}
	t.stats.Missed++
	if !t.seen.before(h) {
		return nil, Mark{}
	}
	g.again++
	return nil, Mark{h}
}

// Keep stores a value with a copy of its encoded bytes. size is the approximate size of the value in
// memory. From now on, no code may write into the value or anything it refers to. The caller holds the
// table's lock.
func (t *Table) Keep(m Mark, site Site, encoded []byte, value any, size int) {
	if !m.Wanted() || t.left == 0 {
		return
	}
	size += len(encoded)
	if size > t.limit/mostOfLimit || !t.makeRoom(size) {
		return
	}
	e := t.vacancy(m.hash)
	if e == nil {
		return
	}
	t.left--
	t.values++
	t.bytes += size
	*e = entry{hash: m.hash, site: site, key: string(encoded), value: value, size: size}
}

// Stats returns the statistics. Any goroutine that does not hold the table's lock may call it.
func (t *Table) Stats() Stats {
	if t == nil {
		return Stats{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()

	s := t.stats
	s.Values, s.Bytes = t.values, t.bytes
	return s
}

func (t *Table) hash(site Site, encoded []byte) uint64 {
	h := maphash.Bytes(t.seed, encoded) ^ (uint64(site)+1)*0x9e3779b97f4a7c15
	return max(h, 1)
}

func (t *Table) bucket(h uint64) []entry {
	i := h & uint64(len(t.slots)-1) &^ (bucket - 1)
	return t.slots[i : i+bucket]
}

func (t *Table) entry(h uint64, site Site, encoded []byte) *entry {
	b := t.bucket(h)
	for i := range b {
		if e := &b[i]; e.hash == h && e.site == site && e.value != nil && e.key == string(encoded) {
			return e
		}
	}
	return nil
}

// makeRoom removes values that have not been used since the last sweep. It reports whether a value of
// this size fits.
func (t *Table) makeRoom(size int) bool {
	for range sweep {
		if t.bytes+size <= t.limit {
			return true
		}
		e := &t.slots[t.hand]
		t.hand = (t.hand + 1) % len(t.slots)
		t.dropUnused(e)
	}
	return t.bytes+size <= t.limit
}

// dropUnused empties a slot unless its value was used since the last attempt.
func (t *Table) dropUnused(e *entry) {
	if e.used {
		e.used = false
		return
	}
	if e.value != nil {
		t.values--
		t.bytes -= e.size
		*e = entry{}
	}
}

// vacancy returns an empty slot for a hash, or nil if all slots of its bucket are in use.
func (t *Table) vacancy(h uint64) *entry {
	if e := t.empty(h); e != nil {
		return e
	}
	t.refused++
	if t.mayGrow() && (2*t.values > len(t.slots) || 4*t.refused > len(t.slots)) {
		t.grow()
		if e := t.empty(h); e != nil {
			return e
		}
	}
	return t.makeVacancy(t.bucket(h))
}

// makeVacancy empties a slot of a bucket whose value has not been used lately. It also clears the mark
// of use of another slot, so that values stay only while they are used.
func (t *Table) makeVacancy(b []entry) (vacant *entry) {
	for i := range b {
		if e := &b[(i+t.refused)%bucket]; !e.used {
			t.dropUnused(e)
			vacant = e
			break
		}
	}
	b[t.refused/bucket%bucket].used = false
	return vacant
}

func (t *Table) empty(h uint64) *entry {
	b := t.bucket(h)
	for i := range b {
		if b[i].value == nil {
			return &b[i]
		}
	}
	return nil
}

func (t *Table) mayGrow() bool {
	return len(t.slots) < mostSlots && 2*len(t.slots) <= t.limit/bytesPerSlot
}

// grow doubles the number of slots. The values of one bucket move to two.
func (t *Table) grow() {
	old := t.slots
	t.slots, t.refused = make([]entry, 2*len(old)), 0
	for i := range old {
		if old[i].value != nil {
			*t.empty(old[i].hash) = old[i]
		}
	}
}

// verify panics if an invariant does not hold.
func (t *Table) verify() {
	values, bytes := 0, 0
	for i := range t.slots {
		e := &t.slots[i]
		bytes += e.size
		if e.value != nil {
			values++
		}
		verify.That(e.value != nil || e.size == 0 && e.key == "" && !e.used, "slot %d has no value, but is not empty: %+v", i, *e)
		verify.That(e.value == nil || t.hash(e.site, []byte(e.key)) == e.hash, "the key in slot %d does not match its hash", i)
		verify.That(e.value == nil || &t.bucket(e.hash)[0] == &t.slots[i&^(bucket-1)], "slot %d is not in the bucket of its value", i)
	}
	verify.That(values == t.values && bytes == t.bytes, "the table counts %d values of %d bytes, but holds %d of %d", t.values, t.bytes, values, bytes)
	verify.That(t.bytes <= max(t.limit, 0), "the table holds %d bytes, but its limit is %d", t.bytes, t.limit)
	t.strings.verify()
}
