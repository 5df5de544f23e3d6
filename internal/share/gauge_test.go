package share

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tidemark-k8s/tidemark/internal/testutil/tier"
)

// stream decodes pods with some values at one site each, and returns the share of the values that were
// found in the table.
func stream(t *Table, s Site, pods, values int, value func(pod, i int) string) float64 {
	shared := 0
	for p := range pods {
		t.Lock()
		for i := range values {
			if _, ok := decode(t, s, value(p, i)); ok {
				shared++
			}
		}
		t.Unlock()
	}
	return float64(shared) / float64(pods*values)
}

const pods = 20_000

// The test decodes a cluster of 20,000 pods. Each pod has one value at a site, such as its tolerations,
// or many, such as its environment variables. Each table has its own hash seed, which decides which
// values share a bucket. Therefore each least is ten standard deviations below the mean of 200 runs.
func TestGaugeLooksUpWhatPays(t *testing.T) {
	tier.SkipRaced(t)
	r := rand.New(rand.NewPCG(1, 2))
	owned := func(owner func(pod int) int) func(int, int) string {
		return func(pod, i int) string { return fmt.Sprintf("owner %d value %d", owner(pod), i) }
	}
	for name, test := range map[string]struct {
		values int
		value  func(pod, i int) string
		least  float64
	}{
		"sorted by name":         {1, owned(func(p int) int { return p / 50 }), 0.95},
		"sorted, many":           {20, owned(func(p int) int { return p / 50 }), 0.95},
		"interleaved":            {1, owned(func(p int) int { return p % 400 }), 0.83},
		"interleaved, many":      {20, owned(func(p int) int { return p % 400 }), 0.81},
		"by chance, many":        {20, owned(func(int) int { return r.IntN(400) }), 0.89},
		"2,000 owners":           {1, owned(func(p int) int { return p % 2000 }), 0.59},
		"half of them new":       {20, owned(func(p int) int { return p%2*(p+1000) + p%2*-1 + (p+1)%2*(p%50) }), 0.48},
		"first unique, then not": {20, owned(func(p int) int { return max(p, pods/2)*(1-p/(pods/2)) + p/(pods/2)*(p%400) }), 0.88},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shared := stream(New(64<<20), NewSite(), pods, test.values, test.value)
			assert.Greater(t, shared, test.least)
		})
	}
}

func TestGaugeStopsWhatDoesNotPay(t *testing.T) {
	table := New(0)
	shared := stream(table, siteA, 10*pods, 1, func(p, _ int) string { return fmt.Sprint(p) })
	assert.Zero(t, shared)
	assert.Less(t, table.Stats().Missed, uint64(10*pods/3))
	assert.Less(t, table.Stats().Values, 20, "values that occur once take no room, except by chance")
}

// Look-ups at a useless site do not affect other sites.
func TestGaugesAreIndependent(t *testing.T) {
	table, pays, other := New(1<<20), NewSite(), NewSite()
	shared := 0
	for p := range pods {
		object(table, other, fmt.Sprint(p))
		if _, ok := object(table, pays, fmt.Sprint(p%400)); ok {
			shared++
		}
	}
	assert.Greater(t, shared, pods*9/10)
}

// notices reports whether a closed gauge opens within some windows, if every looked-up value is found.
func notices(windows int, hash func(i int) uint64) bool {
	g, seen := gauge{closed: true, window: lastWindow}, map[uint64]bool{}
	for i := range windows*lastWindow + 1 {
		h := hash(i)
		if !g.open(h) {
			continue
		}
		if seen[h] {
			g.again++
		}
		seen[h] = true
	}
	return !g.closed
}

func TestClosedGaugeNotices(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var many [60_000]uint64
	for i := range many {
		many[i] = r.Uint64()
	}
	assert.True(t, notices(3, func(i int) uint64 { return many[i%len(many)] }), "values that recur after a long time")
	assert.True(t, notices(1, func(i int) uint64 { return []uint64{1 << 63, r.Uint64()}[i%2] }), "one value among many others")
	assert.False(t, notices(3, func(int) uint64 { return r.Uint64() }), "only new values")
}
