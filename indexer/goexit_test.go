package indexer

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/internal/goexit"
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

// inIndexes checks that a store holds some items, each in all indexes except those that its
// deadly word has failed.
func inIndexes(t *testing.T, w *Writer, want ...*item) {
	t.Helper()
	usable(t, w)
	x := items(w)
	sameSet(t, want, slices.Collect(x.All()))
	sameSet(t, want, slices.Collect(x.By(NamespaceIndex, "a")))
	broken := 0
	for _, it := range want {
		dies := slices.Contains(it.words, deadly)
		if dies {
			broken += 2
		}
		require.Equal(t, []*item{it}, slices.Collect(x.By("name", it.key.Name)))
		for _, index := range []string{"deadly", "deadly too"} {
			for _, word := range it.words {
				require.Equal(t, !dies, slices.Contains(slices.Collect(x.By(index, word)), it))
			}
		}
	}
	require.Equal(t, broken, w.Unindexed())
}

// survives calls f on a goroutine that an index function ends.
func survives(t *testing.T, f func()) {
	t.Helper()
	require.False(t, goexit.Apart(f), "its goroutine ends, in the end")
}

func TestContract_D28_AnIndexFunctionThatEndsItsGoroutineLosesOneObject(t *testing.T) {
	a, b, c, d := numbered(1, 1, "x"), numbered(2, 2, "x", deadly), numbered(3, 3, "y"), numbered(4, 4, deadly)
	all := []*item{a, b, c, d}
	put := func(w *Writer) func() { // each call continues at the next item
		next := 0
		return func() {
			tx := w.Begin()
			defer tx.Commit()
			for ; next < len(all); next++ {
				tx.Put(0, all[next].key, all[next], 0)
			}
		}
	}
	stored := []*item{numbered(1, 0, "x"), numbered(2, 0, "z"), numbered(4, 0, "z")}
	for name, write := range map[string]func(w *Writer){
		"put": func(w *Writer) { goexit.Outlive(put(w)) },
		"full state": func(w *Writer) {
			s := w.Stage(0)
			for _, it := range all {
				s.Put(it.key, it, 0)
			}
			s.Commit("1", Visitor{})
		},
		"full state by hand": func(w *Writer) {
			s := w.StageAll(0)
			for _, it := range all {
				s.Put(it.key, it, 0)
			}
			s.Commit("1", Visitor{})
		},
	} {
		for _, before := range [][]*item{nil, stored} {
			t.Run(fmt.Sprintf("%s over %d objects", name, len(before)), func(t *testing.T) {
				var told []*IndexError
				w := newDeadly(t, func(e *IndexError) { told = append(told, e) }, before...)
				survives(t, func() { write(w) })
				inIndexes(t, w, all...)
				require.Len(t, told, 4)
				for _, e := range told {
					require.ErrorIs(t, e, ErrGoexit)
					require.Contains(t, []Key{b.key, d.key}, e.Key)
				}
				b, d := numbered(2, 5, "x"), numbered(4, 5, "x") // they recover
				update(w, func(tx *Tx) {
					tx.Put(0, b.key, b, 0)
					tx.Put(0, d.key, d, 0)
				})
				inIndexes(t, w, a, b, c, d)
			})
		}
	}
}

// A full state that is built aside is complete as well, and its visitor gets each change once.
func TestContract_D28_ALargeFullState(t *testing.T) {
	var before, all []*item
	for n := range rebuildAbove + 10 {
		words := []string{fmt.Sprint(n)}
		if n%10 == 1 {
			words = append(words, deadly)
		}
		all = append(all, numbered(n, n, words...))
		before = append(before, numbered(2*n, -1, "z"))
	}
	w := newDeadly(t, nil, before...)
	var told []*item
	survives(t, func() {
		s := w.Stage(0)
		for _, it := range all {
			s.Put(it.key, it, 0)
		}
		s.Commit("1", Visitor{Put: func(_ Key, _, it any, _ bool) { told = append(told, asItem(it)) }})
	})
	require.Equal(t, all, told)
	require.Equal(t, "1", w.Indexer().Version())
	inIndexes(t, w, all...)
}

func TestContract_D28_IndexesThatAreAdded(t *testing.T) {
	all := []*item{numbered(1, 1, "x"), numbered(2, 2, "x"), numbered(3, 3, "x", "y"), numbered(4, 4)}
	w := newDeadly(t, nil, all...)
	ends := map[*item]bool{all[1]: true, all[3]: true}
	late := Index[*item]{Name: "late", Append: func(values []string, it *item) []string {
		if ends[it] {
			runtime.Goexit()
		}
		return append(values, it.words...)
	}}
	survives(t, func() { _ = w.AddIndexes(untyped(late, Index[*item]{Name: "later", Append: deadlyWords})...) })
	usable(t, w)
	require.ElementsMatch(t, []*item{all[0], all[2]}, slices.Collect(w.Indexer().By("late", "x")))
	require.ElementsMatch(t, all[:3], slices.Collect(w.Indexer().By("later", "x")))
	require.Equal(t, 2, w.Unindexed())
}

// The labels of an object are read by a function of its type.
func TestContract_D28_LabelsThatASelectorAsksFor(t *testing.T) {
	o := itemOptions()
	labels := o.Labels
	o.Labels = func(obj any) map[string]string {
		it := asItem(obj)
		if slices.Contains(it.words, deadly) {
			runtime.Goexit()
		}
		return labels(it)
	}
	w, err := New(o)
	require.NoError(t, err)
	a, b := numbered(1, 1), numbered(2, 2, deadly)
	a.labels, b.labels = map[string]string{"app": "x"}, map[string]string{"app": "x"}
	update(w, func(tx *Tx) {
		tx.Put(0, a.key, a, 0)
		tx.Put(0, b.key, b, 0)
	})
	for range asksToBuild {
		survives(t, func() { items(w).Select("", in("app", "x")) })
	}
	usable(t, w)
	require.Equal(t, []*item{a}, items(w).Select("", in("app", "x")))
}

// The writes of a section stay if its goroutine ends, and the store remains usable.
func TestASectionThatEndsItsGoroutine(t *testing.T) {
	w := newDeadly(t, nil)
	survives(t, func() {
		update(w, func(tx *Tx) {
			tx.Put(0, Key{"a", "1"}, numbered(1, 1, "x"), 0)
			runtime.Goexit()
		})
	})
	inIndexes(t, w, slices.Collect(items(w).All())...)
	require.Equal(t, 1, w.Indexer().Len())
	survives(t, func() {
		update(w, func(tx *Tx) { tx.Put(0, Key{"a", "2"}, numbered(2, 2, deadly), 0) })
	})
	require.Equal(t, 1, w.Indexer().Len(), "it has done nothing")
	b := numbered(2, 2, deadly)
	survives(t, func() { goexit.Outlive(func() { update(w, func(tx *Tx) { tx.Put(0, b.key, b, 0) }) }) })
	require.Equal(t, 2, w.Indexer().Len(), "called again, it has")
}
