package indexer

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// tableTwins are a table and its twin, a map. Few keys and many deletes leave many tombstones.
type tableTwins struct {
	t             *testing.T
	rand          *rand.Rand
	table         *table[int]
	twin          map[Key]*node[int]
	size, deletes int
	serial        int
}

func newTableTwins(t *testing.T, r *rand.Rand) *tableTwins {
	return &tableTwins{
		t: t, rand: r, table: newTable[int](r.IntN(20)), twin: map[Key]*node[int]{},
		size: 1 + r.IntN(200), deletes: 2 + r.IntN(3),
	}
}

// put stores a new node. It returns the node, and the replaced one or nil.
func put(t *table[int], key Key, value int) (n, old *node[int]) {
	n = newNode[int](key)
	n.value = value
	p, old := t.reserve(key)
	if old == nil {
		t.publish(p, n)
	} else {
		p.group.slots[p.slot].Store(n)
	}
	return n, old
}

func (w *tableTwins) step() {
	key := Key{[]string{"", "a", "b"}[w.rand.IntN(3)], fmt.Sprint(w.rand.IntN(w.size))}
	if w.rand.IntN(w.size) == 0 {
		key = Key{} // the zero value
	}
	if w.rand.IntN(w.deletes) == 0 {
		require.Same(w.t, w.twin[key], w.table.remove(key))
		delete(w.twin, key)
	} else {
		w.serial++
		it, old := put(w.table, key, w.serial)
		require.Same(w.t, w.twin[key], old)
		w.twin[key] = it
	}
	w.table.check()
	require.Same(w.t, w.twin[key], w.table.get(key))
}

// compare compares the table with its twin.
func (w *tableTwins) compare() {
	found := 0
	for n := range w.table.all {
		require.Same(w.t, w.twin[n.key()], n)
		found++
	}
	require.Len(w.t, w.twin, found)
	for range w.table.all {
		break // may stop early
	}
	require.LessOrEqual(w.t, len(*w.table.groups.Load())*groupSize, 8+8*3*(w.size+1), "graves do not pile up")
}

func TestTableAgainstItsTwin(t *testing.T) {
	for seed := range uint64(30) {
		w := newTableTwins(t, seeded(seed))
		for range 500 {
			w.step()
		}
		w.compare()
	}
}

// While the writer puts, removes and grows, readers always find a key that stays stored, and never
// find a key that was never stored.
func TestTableReadersNeverMiss(t *testing.T) {
	table := newTable[int](0)
	const steady = 50
	for n := range steady {
		put(table, Key{"steady", fmt.Sprint(n)}, n)
	}
	var wg sync.WaitGroup
	done := make(chan struct{})
	for range 3 {
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				key := Key{"steady", fmt.Sprint(n % steady)}
				if got := table.get(key); got == nil || got.key() != key {
					t.Errorf("%v is not found", key)
					return
				}
				if table.get(Key{"never", key.Name}) != nil {
					t.Error("found what never was")
					return
				}
			}
		})
	}
	for n := range 20_000 {
		key := Key{"moving", fmt.Sprint(n % 300)}
		if n%3 == 0 {
			table.remove(key)
		} else {
			put(table, key, 0)
		}
		put(table, Key{"steady", fmt.Sprint(n % steady)}, n)
	}
	close(done)
	wg.Wait()
	table.check()
}

// Objects with the same name in many namespaces, such as default service accounts, spread over the
// table as evenly as others. A table has a random seed, and some seeds spread a little worse: one table of three may.
func TestHashesOfOneNameInManyNamespaces(t *testing.T) {
	var uneven []string
	for range 3 {
		x := newTable[int](0)
		if where := unevenIn(t, x); where != "" {
			uneven = append(uneven, where)
		}
		require.NotEqual(t, x.hash(Key{Name: "a"}), x.hash(Key{Namespace: "\x00", Name: "a"}))
	}
	require.LessOrEqual(t, len(uneven), 1, "%q", uneven)
}

// unevenIn hashes one name in many namespaces, and says which group or tag has a third more or fewer keys than the
// mean.
func unevenIn(t *testing.T, x *table[int]) (where string) {
	const keys, groups = 50_000, 100
	hashes := make(map[uint64]string, keys)
	starts, tags := make([]int, groups), make([]int, 256)
	for i := range keys {
		namespace := strings.Repeat("n", i%20) + strconv.Itoa(i)
		key := Key{Namespace: namespace, Name: "default"}
		other, again := hashes[x.hash(key)]
		require.False(t, again, "%s and %s", namespace, other)
		hashes[x.hash(key)] = namespace
		at, tag := x.start(key, groups)
		starts[at]++
		tags[tag]++
	}
	for what, counts := range map[string][]int{"group": starts, "tag": tags[128:]} {
		mean := keys / len(counts)
		for i, n := range counts {
			if n < mean-mean/3 || n > mean+mean/3 {
				where = fmt.Sprintf("%s %d has %d of %d keys", what, i, n, keys)
			}
		}
	}
	return where
}
