package share

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/internal/testutil/chance"
	"github.com/tidemark-k8s/tidemark/internal/testutil/tier"
)

var siteA, siteB = NewSite(), NewSite()

// decode decodes one value. It reports whether the value was shared.
func decode(t *Table, s Site, encoded string) (value *string, shared bool) {
	v, m := t.Find(s, []byte(encoded))
	if v != nil {
		return v.(*string), true
	}
	value = &encoded
	if m.Wanted() {
		t.Keep(m, s, []byte(encoded), value, len(encoded))
	}
	return value, false
}

// object decodes an object with one value. It reports whether the value was shared.
func object(t *Table, s Site, encoded string) (value *string, shared bool) {
	t.Lock()
	defer t.Unlock()
	return decode(t, s, encoded)
}

func TestValueIsSharedFromTheThirdOn(t *testing.T) {
	table := New(0)
	first, _ := object(table, siteA, "value")
	second, shared := object(table, siteA, "value")
	assert.False(t, shared, "a value that occurs only twice is not shared")
	assert.NotSame(t, first, second)
	third, shared := object(table, siteA, "value")
	assert.True(t, shared)
	assert.Same(t, second, third)
	assert.Equal(t, Stats{Found: 1, Missed: 2, Values: 1, Bytes: 10}, table.Stats())
}

func TestValuesOfTwoSitesAreNeverMixedUp(t *testing.T) {
	table := New(0)
	for range 3 {
		object(table, siteA, "value")
	}
	for range 2 {
		_, shared := object(table, siteB, "value")
		assert.False(t, shared)
	}
	a, _ := object(table, siteA, "value")
	b, shared := object(table, siteB, "value")
	assert.True(t, shared)
	assert.NotSame(t, a, b)
}

// Values with equal hashes are distinguished by their sites and bytes.
func TestEqualHashesAreNotEnough(t *testing.T) {
	table := New(0)
	table.Lock()
	table.Find(siteA, []byte("value"))
	h := table.hash(siteA, []byte("value"))
	table.Keep(Mark{h}, siteA, []byte("other"), new(int), 8)
	v, _ := table.Find(siteA, []byte("value"))
	assert.Nil(t, v)
	table.Keep(Mark{h}, siteB, []byte("value"), new(int), 8)
	v, _ = table.Find(siteA, []byte("value"))
	assert.Nil(t, v)
}

func TestKeyIsACopy(t *testing.T) {
	table := New(0)
	table.Lock()
	defer table.Unlock()
	buffer := []byte("value")
	table.Find(siteA, buffer)
	_, m := table.Find(siteA, buffer)
	table.Keep(m, siteA, buffer, new(int), 8)
	copy(buffer, "VALUE")
	v, _ := table.Find(siteA, []byte("VALUE"))
	assert.Nil(t, v)
	v, _ = table.Find(siteA, []byte("value"))
	assert.NotNil(t, v)
}

func TestNilTableSharesNothing(t *testing.T) {
	var table *Table
	table.Lock()
	v, m := table.Find(siteA, []byte("value"))
	table.Keep(m, siteA, []byte("value"), new(int), 8)
	assert.Nil(t, v)
	assert.False(t, m.Wanted())
	assert.Equal(t, "text", table.String(siteA, []byte("text")))
	table.Unlock()
	assert.Zero(t, table.Stats())
}

func TestLimitHolds(t *testing.T) {
	table := New(10_000)
	for i := range 3000 {
		for range 2 {
			object(table, siteA, fmt.Sprintf("value %090d", i))
		}
		require.LessOrEqual(t, table.Stats().Bytes, 10_000)
	}
	assert.Greater(t, table.Stats().Values, 25, "a full table is in use")
}

// A used value usually stays in a full table while many values that occur twice pass through.
func TestFullTableKeepsWhatIsUsed(t *testing.T) {
	table := New(20_000)
	lost := 0
	for i := range 5000 {
		for range 2 {
			object(table, siteA, fmt.Sprintf("value %090d", i))
		}
		if _, shared := object(table, siteB, fmt.Sprintf("used %d", i%20)); i > 1000 && !shared {
			lost++
		}
	}
	assert.Less(t, lost, 1200, "of 4000")
}

// A full table drops values that are no longer used, to make room for others. The number of shared
// values depends on the hash seed: about 1,700 of 2,000.
func TestFullTableForgetsWhatIsNotUsed(t *testing.T) {
	table := New(20_000)
	for _, generation := range []string{"old", "new"} {
		shared := 0
		for i := range 2000 {
			if _, ok := object(table, siteA, fmt.Sprintf("%s %090d", generation, i%50)); ok {
				shared++
			}
		}
		assert.Greater(t, shared, 1200, generation)
	}
}

func TestHugeValueDoesNotFlushTheTable(t *testing.T) {
	table := New(10_000)
	for range 3 {
		object(table, siteA, "small")
	}
	table.Lock()
	for range 2 {
		_, m := table.Find(siteB, []byte("huge"))
		table.Keep(m, siteB, []byte("huge"), new(int), 9_999)
	}
	table.Unlock()
	_, shared := object(table, siteA, "small")
	assert.True(t, shared)
}

// One object adds a limited number of values, and a limited number of its bytes is hashed, at any depth
// of nesting.
func TestOneObjectHasABudget(t *testing.T) {
	table := New(0)
	table.Lock()
	for i := range 2 * budget {
		decode(table, siteA, fmt.Sprint(i))
		decode(table, siteA, fmt.Sprint(i))
	}
	table.Unlock()
	values := table.Stats().Values
	assert.InDelta(t, budget, values, budget/4, "some values compete for a slot")

	table = New(0)
	table.Lock()
	for i := range 2 * budget {
		decode(table, siteA, fmt.Sprint(i))
		table.Unlocked(func() { object(table, siteB, "of another goroutine") })
		decode(table, siteA, fmt.Sprint(i))
	}
	table.Unlock()
	assert.InDelta(t, values, table.Stats().Values, budget/4, "also if a user's function is called in between")

	table.Lock()
	nested := make([]byte, maxKey)
	for range 10 * maxHashed / maxKey {
		table.Find(siteB, nested)
	}
	assert.LessOrEqual(t, table.hashed, maxHashed+maxKey)
	table.Unlock()
	for range 2 {
		object(table, siteA, "next")
	}
	_, shared := object(table, siteA, "next")
	assert.True(t, shared, "each object has a budget of its own")
}

func TestLongEncodingIsNotShared(t *testing.T) {
	table := New(0)
	long := string(make([]byte, maxKey+1))
	for range 5 {
		_, shared := object(table, siteA, long)
		assert.False(t, shared)
	}
}

func TestSmallTableIsSmall(t *testing.T) {
	table := New(0)
	for i := range 10 {
		object(table, siteA, fmt.Sprint(i%2))
		table.Lock()
		table.String(siteB, []byte("text"))
		table.Unlock()
	}
	size := len(table.slots)*int(unsafe.Sizeof(entry{})) + 4*bucket*len(table.seen.buckets) + 24*len(table.strings.slots)
	assert.Less(t, size, 5000)
	assert.EqualValues(t, 6, table.Stats().Found, "for ten objects with two values each")
}

func TestTableIsForManyGoroutines(t *testing.T) {
	table := New(0)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 500 {
				object(table, siteA, fmt.Sprint(i%7))
				if g == 0 {
					table.Stats()
					_ = NewSite()
				}
			}
		})
	}
	wg.Wait()
	assert.Equal(t, 7, table.Stats().Values)
}

func TestTableAgainstItsTwin(t *testing.T) {
	tier.SkipRaced(t)
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 0))
		steps := 0
		playTwin(t, func() bool { steps++; return steps < 3000 }, r)
	}
}

func FuzzTableAgainstItsTwin(f *testing.F) { chance.Fuzz(f, playTwin) }

// playTwin decodes random objects with nested values. The twin is a map that never drops values on its
// own. If the table finds a value, it must be the value kept for the same bytes.
func playTwin(t *testing.T, more func() bool, r *rand.Rand) {
	table := New(1 << r.IntN(20))
	kept := map[any]string{}
	sites := []Site{siteA, siteB}
	variety := 1 + r.IntN(3000)
	var value func(depth int)
	value = func(depth int) {
		s := sites[r.IntN(2)]
		encoded := fmt.Sprintf("%0*d", depth*100, r.IntN(variety))
		v, m := table.Find(s, []byte(encoded))
		if v != nil {
			require.Equal(t, kept[v], fmt.Sprint(s, encoded))
			require.False(t, m.Wanted())
			return
		}
		for range r.IntN(3) {
			if depth < 4 {
				value(depth + 1)
			}
		}
		v = new(string)
		kept[v] = fmt.Sprint(s, encoded)
		table.Keep(m, s, []byte(encoded), v, r.IntN(500))
	}
	for more() {
		table.Lock()
		value(0)
		if len(table.slots) < 1<<10 {
			table.verify()
		}
		table.Unlock()
	}
}
