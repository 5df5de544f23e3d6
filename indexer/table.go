package indexer

import (
	"hash/maphash"
	"math/bits"
	"sync/atomic"
	"unique"
)

// node is one entry of a table. The key never changes.
type node[V any] struct {
	key   Key
	value V
}

// table maps keys to nodes, with open addressing and linear probing, for any
// number of readers and one writer. Readers take no lock: a slot is an atomic
// pointer, and a slot once filled is never empty again in the same array, so
// that a probe sequence cannot break under a reader.
//
// Invariant: live <= used <= 7/10 of the slots; used counts the tombstones too.
type table[V any] struct {
	slots atomic.Pointer[[]slot[V]] // replaced whole when it grows

	// The writer's own.
	live, used int
	seed       maphash.Seed
	tombstone  *node[V]
}

type slot[V any] struct{ atomic.Pointer[node[V]] }

// newTable returns a table with room for size nodes before it grows.
func newTable[V any](size int) *table[V] {
	t := &table[V]{seed: maphash.MakeSeed(), tombstone: new(node[V])}
	t.allocate(size)
	return t
}

func (t *table[V]) allocate(size int) []slot[V] {
	slots := make([]slot[V], max(8, size*10/7+1))
	t.slots.Store(&slots)
	return slots
}

// start is where the probe for key begins: the hash scaled to the number of
// slots, which therefore need not be a power of two.
func (t *table[V]) start(key Key, slots int) int {
	h := maphash.String(t.seed, key.Name)
	if key.Namespace != "" {
		h ^= bits.RotateLeft64(maphash.String(t.seed, key.Namespace), 17)
	}
	i, _ := bits.Mul64(h, uint64(slots)) //nolint:gosec // a slice length is not negative
	return int(i)                        //nolint:gosec // below slots
}

// get returns the node of key, or nil. Safe for any goroutine.
func (t *table[V]) get(key Key) *node[V] {
	slots := *t.slots.Load()
	for i := t.start(key, len(slots)); ; {
		n := slots[i].Load()
		if n == nil {
			return nil
		}
		if n.key == key && n != t.tombstone {
			return n
		}
		if i++; i == len(slots) {
			i = 0
		}
	}
}

// put stores n, which nobody else has seen yet, under its key and returns the
// node that it replaces, or nil.
func (t *table[V]) put(n *node[V]) (old *node[V]) {
	slots := *t.slots.Load()
	if (t.used+1)*10 > len(slots)*7 {
		slots = t.grow()
	}
	var grave *slot[V]
	for i := t.start(n.key, len(slots)); ; {
		s := &slots[i]
		switch old = s.Load(); {
		case old == nil:
			t.live++
			if grave == nil {
				t.used++
				grave = s
			}
			// Few namespaces name many objects: one string for all of them stays
			// in the processor's cache.
			n.key.Namespace = unique.Make(n.key.Namespace).Value()
			grave.Store(n)
			return nil
		case old == t.tombstone:
			if grave == nil {
				grave = s
			}
		case old.key == n.key:
			n.key = old.key
			s.Store(n)
			return old
		}
		if i++; i == len(slots) {
			i = 0
		}
	}
}

// remove takes the node of key out and returns it, or nil.
func (t *table[V]) remove(key Key) (old *node[V]) {
	slots := *t.slots.Load()
	for i := t.start(key, len(slots)); ; {
		n := slots[i].Load()
		if n == nil {
			return nil
		}
		if n.key == key && n != t.tombstone {
			slots[i].Store(t.tombstone)
			t.live--
			return n
		}
		if i++; i == len(slots) {
			i = 0
		}
	}
}

// grow moves the live nodes into a new array of at least half as much room
// again as they need, which also drops the tombstones. Readers keep the old
// one until they look again.
func (t *table[V]) grow() []slot[V] {
	old := *t.slots.Load()
	slots := make([]slot[V], max(8, (t.live+1)*15/7))
	for i := range old {
		n := old[i].Load()
		if n == nil || n == t.tombstone {
			continue
		}
		t.place(slots, n)
	}
	t.used = t.live
	t.slots.Store(&slots)
	return slots
}

// insert stores a node whose key is not in the table, and leaves it as it is:
// others may be reading it.
func (t *table[V]) insert(n *node[V]) {
	slots := *t.slots.Load()
	if (t.used+1)*10 > len(slots)*7 {
		slots = t.grow()
	}
	t.live++
	t.used++
	t.place(slots, n)
}

// place puts a node into the first empty slot of its probe sequence.
func (t *table[V]) place(slots []slot[V], n *node[V]) {
	i := t.start(n.key, len(slots))
	for slots[i].Load() != nil {
		if i++; i == len(slots) {
			i = 0
		}
	}
	slots[i].Store(n)
}

// all calls yield for every node until it returns false. Readers may call it;
// what the writer does meanwhile may be seen or not.
func (t *table[V]) all(yield func(*node[V]) bool) {
	slots := *t.slots.Load()
	for i := range slots {
		n := slots[i].Load()
		if n != nil && n != t.tombstone && !yield(n) {
			return
		}
	}
}
