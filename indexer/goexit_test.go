package indexer

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// An item with the word deadly ends the goroutine of an index function that reads it.
const deadly = "deadly"

func deadlyWords(values []string, it *item) []string {
	if slices.Contains(it.words, deadly) {
		runtime.Goexit()
	}
	return append(values, it.words...)
}

// newDeadly returns a store with four indexes: the second and the third may end the goroutine. It
// holds the items, by name.
func newDeadly(t *testing.T, report func(*IndexError), items ...*item) *Writer {
	o := itemOptions()
	o.Indexes = untyped(
		Index[*item]{Name: NamespaceIndex, ByNamespace: true},
		Index[*item]{Name: "deadly", Append: deadlyWords},
		Index[*item]{Name: "deadly too", Append: deadlyWords},
		Index[*item]{Name: "name", Append: func(values []string, it *item) []string { return append(values, it.key.Name) }},
	)
	o.Report = report
	w, err := New(o)
	require.NoError(t, err)
	update(w, func(tx *Tx) {
		for _, it := range items {
			tx.Put(0, it.key, it, 0)
		}
	})
	return w
}

func numbered(n, serial int, words ...string) *item {
	return &item{key: Key{"a", fmt.Sprint(n)}, serial: serial, words: words}
}

// holds checks that a store holds some items, each in all indexes.
func holds(t *testing.T, w *Writer, want ...*item) {
	t.Helper()
	usable(t, w)
	x := items(w)
	sameSet(t, want, slices.Collect(x.All()))
	sameSet(t, want, slices.Collect(x.By(NamespaceIndex, "a")))
	words := map[string][]*item{deadly: nil}
	for _, it := range want {
		require.Equal(t, []*item{it}, slices.Collect(x.By("name", it.key.Name)))
		for _, word := range it.words {
			words[word] = append(words[word], it)
		}
	}
	for word, with := range words {
		for _, index := range []string{"deadly", "deadly too"} {
			sameSet(t, with, slices.Collect(x.By(index, word)), index, word)
		}
	}
	require.Zero(t, countUnindexed(w), "nothing is stored that an index lacks")
}

// ends calls f on a goroutine that an index function ends.
func ends(t *testing.T, f func()) {
	t.Helper()
	returned := false
	aside(func() {
		f()
		returned = true
	})
	require.False(t, returned, "its goroutine ends")
}

// D28: an index function that ends its goroutine breaks the write off. What a section has written
// before stays; a full state changes nothing. The store goes on.
func TestContract_D28_AnIndexFunctionThatEndsItsGoroutine(t *testing.T) {
	a, b, c := numbered(1, 1, "x"), numbered(2, 2, "x", deadly), numbered(3, 3, "y")
	stored := []*item{numbered(1, 0, "x"), numbered(2, 0, "z"), numbered(4, 0, "z")}
	full := func(s *Staging) {
		var visited []Key
		for _, it := range []*item{a, b, c} {
			s.Put(it.key, it, 0)
		}
		defer func() { require.Empty(t, visited) }()
		s.Commit("1", Visitor{
			Deleted: func(key Key, _ any) { visited = append(visited, key) },
			Put:     func(key Key, _, _ any, _ bool) { visited = append(visited, key) },
			Commit:  func(*Tx) { visited = append(visited, Key{}) },
		})
	}
	for name, row := range map[string]struct {
		write func(w *Writer)
		after func(before []*item) []*item
	}{
		"put": {func(w *Writer) {
			tx := w.Begin()
			defer tx.Commit()
			for _, it := range []*item{a, b, c} {
				tx.Put(0, it.key, it, 0)
			}
		}, func(before []*item) []*item { return append([]*item{a}, before[min(1, len(before)):]...) }},
		"full state":         {func(w *Writer) { full(w.Stage(0)) }, slices.Clone[[]*item]},
		"full state by hand": {func(w *Writer) { full(w.StageAll()) }, slices.Clone[[]*item]},
	} {
		for _, before := range [][]*item{nil, stored} {
			t.Run(fmt.Sprintf("%s over %d objects", name, len(before)), func(t *testing.T) {
				var recorded []*IndexError
				w := newDeadly(t, func(e *IndexError) { recorded = append(recorded, e) }, before...)
				ends(t, func() { row.write(w) })
				holds(t, w, row.after(before)...)
				require.Empty(t, w.Indexer().Version())
				require.Len(t, recorded, 1)
				require.ErrorIs(t, recorded[0], ErrExited)
				require.Equal(t, "deadly", recorded[0].Index)
				require.Equal(t, b.key, recorded[0].Key)
				all := []*item{a, numbered(2, 5, "x"), c} // it recovers
				s := w.Stage(0)
				for _, it := range all {
					s.Put(it.key, it, 0)
				}
				s.Commit("2", Visitor{})
				holds(t, w, all...)
			})
		}
	}
}

// A full state that is built aside changes nothing either.
func TestContract_D28_ALargeFullState(t *testing.T) {
	var before, all []*item
	for n := range rebuildAbove + 10 {
		all = append(all, numbered(n, n, fmt.Sprint(n)))
		before = append(before, numbered(2*n, -1, "z"))
	}
	all[rebuildAbove].words = []string{deadly}
	w := newDeadly(t, nil, before...)
	ends(t, func() {
		s := w.Stage(0)
		for _, it := range all {
			s.Put(it.key, it, 0)
		}
		s.Commit("1", Visitor{Put: func(Key, any, any, bool) { require.Fail(t, "it is broken off") }})
	})
	require.Empty(t, w.Indexer().Version())
	holds(t, w, before...)
}

// Failures beside an index function that ends its goroutine count only for objects that are stored.
func TestAFailureBeforeABrokenOffFullState(t *testing.T) {
	o := itemOptions()
	o.Indexes = untyped(Index[*item]{Name: "word", Append: func(values []string, it *item) []string {
		if slices.Contains(it.words, "panic") {
			panic("on purpose")
		}
		return deadlyWords(values, it)
	}})
	w, err := New(o)
	require.NoError(t, err)
	commit := func(all ...*item) {
		s := w.Stage(0)
		for _, it := range all {
			s.Put(it.key, it, 0)
		}
		s.Commit("1", Visitor{})
	}
	ends(t, func() { commit(numbered(1, 1, "panic"), numbered(2, 2, deadly)) })
	require.Zero(t, countUnindexed(w))
	commit(numbered(1, 1, "panic"), numbered(2, 2, "x"), numbered(3, 3, "panic"), numbered(4, 4, "x", "y"))
	require.Equal(t, 2, countUnindexed(w))
	require.Len(t, slices.Collect(items(w).By("word", "x")), 2)
	require.Len(t, slices.Collect(items(w).By("word", "y")), 1)
	usable(t, w)
}

func TestContract_D28_IndexesThatAreAdded(t *testing.T) {
	all := []*item{numbered(1, 1, "x"), numbered(2, 2, "x"), numbered(3, 3, "x", "y"), numbered(4, 4)}
	w := newDeadly(t, nil, all...)
	late := Index[*item]{Name: "late", Append: func(values []string, it *item) []string {
		if it == all[2] {
			runtime.Goexit()
		}
		return append(values, it.words...)
	}}
	later := Index[*item]{Name: "later", Append: deadlyWords}
	ends(t, func() { _ = w.AddIndexes(untyped(later, late)...) })
	usable(t, w)
	require.Equal(t, []string{NamespaceIndex, "deadly", "deadly too", "name"}, w.Indexer().Indexes())
	holds(t, w, all...)
	require.NoError(t, w.AddIndexes(untyped(later)...), "its name is free")
	sameSet(t, all[:3], slices.Collect(items(w).By("later", "x")))
}

// The labels of an object are read by a function of its type.
func TestContract_D28_LabelsThatASelectorAsksFor(t *testing.T) {
	o := itemOptions()
	labels := o.Labels
	exits := false
	o.Labels = func(obj any) map[string]string {
		if exits {
			runtime.Goexit()
		}
		return labels(asItem(obj))
	}
	w, err := New(o)
	require.NoError(t, err)
	a, b := numbered(1, 1), numbered(2, 2)
	a.labels, b.labels = map[string]string{"app": "x"}, map[string]string{"app": "y"}
	update(w, func(tx *Tx) {
		tx.Put(0, a.key, a, 0)
		tx.Put(0, b.key, b, 0)
	})
	exits = true
	for range 2 * asksToBuild {
		ends(t, func() { selected(items(w), "", in("app", "x")) })
	}
	exits = false
	usable(t, w)
	require.Empty(t, w.Indexer().LabelIndexSizes())
	require.Equal(t, []*item{a}, selected(items(w), "", in("app", "x")))
	require.Len(t, w.Indexer().LabelIndexSizes(), 1)
}

// The writes of a section stay if its goroutine ends, and the store remains usable.
func TestASectionThatEndsItsGoroutine(t *testing.T) {
	w := newDeadly(t, nil)
	a := numbered(1, 1, "x")
	ends(t, func() {
		update(w, func(tx *Tx) {
			tx.Put(0, a.key, a, 0)
			runtime.Goexit()
		})
	})
	holds(t, w, a)
	ends(t, func() {
		update(w, func(tx *Tx) { tx.Put(0, a.key, numbered(1, 2, deadly), 0) })
	})
	holds(t, w, a)
}
