package indexer

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// An index function may return a slice of the object's own, with or without repetitions
// and spare capacity. The store neither writes nor keeps it.
func TestWhatAnIndexFunctionReturnsIsNotWritten(t *testing.T) {
	own := func(_ []string, o tagged) []string { return o.values }
	other := func(values []string, _ tagged) []string { return append(values, "x") }
	for name, given := range map[string][]string{
		"few":               {"a", "b"},
		"with repetitions":  {"a", "a", "b"},
		"with room":         slices.Grow([]string{"a", "b", "a"}, 10),
		"more than are few": slices.Repeat([]string{"a", "b", "c"}, few),
	} {
		t.Run(name, func(t *testing.T) {
			w, err := New(Options{Indexes: untyped(Index[tagged]{Name: "own", Append: own}, Index[tagged]{Name: "other", Append: other})})
			require.NoError(t, err)
			want := slices.Clone(given)
			update(w, func(tx *Tx) {
				tx.Put(0, Key{Name: "a"}, tagged{values: given}, 0)
				tx.Put(0, Key{Name: "b"}, tagged{values: []string{"later"}}, 0)
			})
			require.NoError(t, w.AddIndexes(untyped(Index[tagged]{Name: "late", Append: own}, Index[tagged]{Name: "later", Append: other})...))
			s := w.Stage(0)
			s.Put(Key{Name: "a"}, tagged{values: given}, 0)
			s.Commit("1", Visitor{})
			require.Equal(t, want, given)
			for _, index := range []string{"own", "late"} {
				found, err := w.Indexer().Values(index)
				require.NoError(t, err)
				require.ElementsMatch(t, slices.Compact(slices.Sorted(slices.Values(want))), found)
			}
		})
	}
}

// An update allocates at most the word that holds the object: indexing allocates nothing.
func TestIndexingAllocatesNothing(t *testing.T) {
	values := []string{"a", "b"}
	w, err := New(Options{Indexes: untyped(
		Index[tagged]{Name: "own", Append: func([]string, tagged) []string { return values }},
		Index[tagged]{Name: "appended", Append: func(v []string, _ tagged) []string { return append(v, values...) }},
	)})
	require.NoError(t, err)
	section := func(tx *Tx) { tx.Put(0, Key{Name: "a"}, tagged{}, 0) }
	update(w, section)
	unchecked(t)
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { update(w, section) }), 1.0, "the word that holds the object")
}
