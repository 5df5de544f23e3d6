package indexer

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// A scan that stops at every object still visits each object once.
func TestAScanInStepsMeetsEachObjectOnce(t *testing.T) {
	w, err := New(itemOptions())
	require.NoError(t, err)
	const items = 300
	update(w, func(tx *Tx) {
		for i := range items {
			key := Key{"a", fmt.Sprint(i)}
			tx.Put(0, key, &item{key: key, words: []string{"w"}}, 0)
		}
	})
	met := map[Key]int{}
	steps, place := 0, 0
	for {
		steps++
		if place = w.Scan(place, func(obj any) bool { met[obj.(*item).key]++; return false }); place == 0 {
			break
		}
	}
	require.Len(t, met, items)
	for key, times := range met {
		require.Equal(t, 1, times, key)
	}
	require.Greater(t, steps, items/(2*groupSize))
	require.Positive(t, w.Indexer().Bytes())
}
