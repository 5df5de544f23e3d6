package share

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// lookUp is what a decoder does: it looks a value up, and keeps what it decoded.
func lookUp(t *Table, site Site, encoded string) (found bool) {
	t.Lock()
	defer t.Unlock()

	value, m := t.Find(site, []byte(encoded))
	if value == nil {
		t.Keep(m, site, []byte(encoded), &encoded, len(encoded))
	}
	return value != nil
}

func TestTable_KeepsWhatIsSeenTwice(t *testing.T) {
	table, site, other := New(0), NewSite("a"), NewSite("b")
	require.False(t, lookUp(table, site, "x"))
	require.False(t, lookUp(table, site, "x"))
	require.True(t, lookUp(table, site, "x"))
	require.False(t, lookUp(table, other, "x"), "sites are not mixed up")
}

// Values that come in turns do not push each other out while there is room.
func TestTable_ManyValuesInTurns(t *testing.T) {
	const fields, values, turns = 20, 400, 30
	table, found := New(0), 0
	sites := make([]Site, fields)
	for f := range sites {
		sites[f] = NewSite(fmt.Sprint("field ", f))
	}
	for turn := range turns {
		for v := range values {
			for f := range sites {
				if lookUp(table, sites[f], fmt.Sprint(f, v)) && turn == turns-1 {
					found++
				}
			}
		}
	}
	require.Greater(t, found, fields*values*8/10)
}

func TestTable_HoldsNoMoreThanItMay(t *testing.T) {
	const limit = 1000
	table, early, late := New(limit), NewSite("early"), NewSite("late")
	for i := range 900 {
		lookUp(table, early, fmt.Sprintf("%010d", i/3)) // three times each
		require.LessOrEqual(t, table.Stats().Bytes, limit)
	}
	for range 60 {
		lookUp(table, late, "one that comes after the table was full")
	}
	require.True(t, lookUp(table, late, "one that comes after the table was full"), "what nothing uses makes room")
}

func TestTable_Strings(t *testing.T) {
	table, site := New(0), NewSite("a")
	table.Lock()
	defer table.Unlock()
	for range 3 {
		for i := range 500 {
			require.Equal(t, fmt.Sprint("string ", i), table.String(site, []byte(fmt.Sprint("string ", i))))
		}
	}
	other := NewSite("other")
	a, b := table.String(other, []byte("again")), table.String(other, []byte("again"))
	require.Same(t, unsafeData(a), unsafeData(b))
}
