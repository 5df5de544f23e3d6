package indexer

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// The twin of a table is a map. Few keys and many deletes make graves.
func TestTableAgainstItsTwin(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 4)) //nolint:gosec // a test
		size := 1 + r.IntN(200)
		table := newTable[int](r.IntN(20))
		twin := map[Key]*node[int]{}
		deletes := 2 + r.IntN(3)
		for n := range 500 {
			key := Key{[]string{"", "a", "b"}[r.IntN(3)], fmt.Sprint(r.IntN(size))}
			if r.IntN(size) == 0 {
				key = Key{} // the zero value
			}
			if r.IntN(deletes) == 0 {
				require.Same(t, twin[key], table.remove(key))
				delete(twin, key)
			} else {
				it := &node[int]{value: n}
				require.Same(t, twin[key], table.put(key, it))
				twin[key] = it
			}
			table.check()
			require.Same(t, twin[key], table.get(key))
		}
		found := 0
		for n := range table.all {
			require.Same(t, twin[n.key()], n)
			found++
		}
		require.Len(t, twin, found)
		for range table.all {
			break // may stop early
		}
		require.LessOrEqual(t, len(*table.groups.Load())*groupSize, 8+8*3*(size+1), "graves do not pile up")
	}
}

// Readers probe while the one writer puts, removes and grows: a key that is
// always there is always found, one that never was never.
func TestTableReadersNeverMiss(t *testing.T) {
	table := newTable[int](0)
	const steady = 50
	for n := range steady {
		table.put(Key{"steady", fmt.Sprint(n)}, &node[int]{value: n})
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
			table.put(key, new(node[int]))
		}
		table.put(Key{"steady", fmt.Sprint(n % steady)}, &node[int]{value: n})
	}
	close(done)
	wg.Wait()
	table.check()
}
