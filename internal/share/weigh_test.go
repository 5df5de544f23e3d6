package share

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// met is a scale that records the values added to it.
type met struct {
	values []any
	texts  []string
}

func (m *met) Add(v any) {
	if v != nil {
		m.values = append(m.values, v)
	}
}

func (m *met) Text(s string) { m.texts = append(m.texts, s) }

// Weigh adds every value and string of the table to the scale, and nothing else.
func TestWeigh(t *testing.T) {
	var nothing met
	require.Zero(t, (*Table)(nil).Weigh(&nothing))
	table := New(0)
	require.Zero(t, table.Weigh(&nothing))
	require.Zero(t, nothing)

	site := NewSite()
	table.Lock()
	text := table.String(site, []byte("a string"))
	boxed := table.Boxed(site, []byte("another one"))
	table.Unlock()
	var m met
	require.Positive(t, table.Weigh(&m))
	require.ElementsMatch(t, []string{text, boxed.(string)}, m.texts)
	require.Equal(t, []any{boxed}, m.values)
}

// Weigh visits all slots of a large table, and holds the lock only briefly.
func TestWeighMany(t *testing.T) {
	table, site := New(0), NewSite()
	want := map[string]bool{}
	for n := range 10 * weighedAtOnce {
		encoded := fmt.Appendf(nil, "value %d", n)
		table.Lock()
		table.Find(site, encoded)
		if _, m := table.Find(site, encoded); m.Wanted() {
			table.Keep(m, site, encoded, string(encoded), 8)
		}
		table.Unlock()
	}
	for i := range table.slots {
		if e := &table.slots[i]; e.value != nil {
			want[e.key] = true
		}
	}
	require.Greater(t, len(want), 2*weighedAtOnce)
	var m met
	table.Weigh(&m)
	got := map[string]bool{}
	for _, v := range m.values {
		got[v.(string)] = true
	}
	require.Equal(t, want, got)
}
