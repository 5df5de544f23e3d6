package engine

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Receipts find no answer that is not applied, never go back, and find the last one when all are applied.
func TestReceipts(t *testing.T) {
	for seed := range uint64(200) {
		dice, begin := rand.New(rand.NewPCG(seed, 1)), time.Now()
		var r receipts
		var all []receipt // the slow twin
		applied, found := uint64(0), time.Time{}
		for n := range 100 {
			last := uint64(0)
			if len(all) > 0 {
				last = all[len(all)-1].number
			}
			if dice.IntN(2) == 0 {
				next := receipt{begin.Add(time.Duration(n)), last + 1 + dice.Uint64N(3)}
				all = append(all, next)
				r.add(next, applied)
			} else if last > applied {
				applied += 1 + dice.Uint64N(last-applied)
			}
			newest := time.Time{}
			for _, one := range all {
				if one.number <= applied {
					newest = one.at
				}
			}
			now := r.confirmed(applied)
			require.False(t, now.After(newest))
			require.False(t, now.Before(found))
			if found = now; len(all) > 0 && applied == all[len(all)-1].number {
				require.Equal(t, newest, now)
			}
		}
	}
}
