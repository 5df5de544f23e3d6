package indexer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"
)

// titled is an interface that items have.
type titled interface{ title() string }

func (it *item) title() string { return it.key.String() }

// views runs a test for views of a store of 300 items: of a pointer type, of an
// interface, and of anything.
func views(t *testing.T, pointers func(*testing.T, *Indexer[*item]), interfaces func(*testing.T, *Indexer[titled]), anything func(*testing.T, *Indexer[any])) {
	w := filled(t, 300)
	t.Run("pointers", func(t *testing.T) { pointers(t, View[*item](w.Indexer())) })
	t.Run("an interface", func(t *testing.T) { interfaces(t, View[titled](w.Indexer())) })
	t.Run("anything", func(t *testing.T) { anything(t, w.Indexer()) })
}

// filled returns a store of some items.
func filled(t testing.TB, n int) *Writer {
	w, err := New(itemOptions())
	require.NoError(t, err)
	update(w, func(tx *Tx) {
		for i := range n {
			key := Key{"a", fmt.Sprint(i)}
			tx.Put(0, key, &item{key: key, serial: i, words: []string{"word"}}, 0)
		}
	})
	return w
}

func TestAViewReadsWithoutAllocation(t *testing.T) { views(t, readsFree, readsFree, readsFree) }

func readsFree[T any](t *testing.T, x *Indexer[T]) {
	unchecked(t)
	all, room := x.Snapshot(), make([]T, 0, x.Len())
	for name, read := range map[string]func() int{
		"Get": func() int {
			if _, ok := x.Get(Key{"a", "7"}); ok {
				return x.Len()
			}
			return 0
		},
		"All": func() (n int) {
			for range x.All() {
				n++
			}
			return n
		},
		"By": func() (n int) {
			for range x.By("word", "word") {
				n++
			}
			return n
		},
		"Snapshot": func() int { return x.Snapshot().Len() },
		"Snapshot.All": func() (n int) {
			for range all.All() {
				n++
			}
			return n
		},
		"At":       func() int { all.At(299); return x.Len() },
		"appendTo": func() int { return len(appendTo(room, Snapshot[any](all))) },
	} {
		require.Equal(t, 300, read(), name)
		require.Zero(t, testing.AllocsPerRun(10, func() { read() }), name)
	}
	require.Equal(t, 1.0, testing.AllocsPerRun(10, func() { all.List() }), "List")
}

func TestAViewShowsTheStore(t *testing.T) { views(t, showsAll, showsAll, showsAll) }

func showsAll[T any](t *testing.T, x *Indexer[T]) {
	serials := func(objects []T) (serials []int) {
		for _, obj := range objects {
			serials = append(serials, any(obj).(*item).serial)
		}
		slices.Sort(serials)
		return serials
	}
	want := make([]int, 300)
	for i := range want {
		want[i] = i
	}
	by, err := x.Lookup("word", "word")
	require.NoError(t, err)
	either, err := union(x, "word", "word", "none")
	require.NoError(t, err)
	for name, objects := range map[string][]T{
		"All": slices.Collect(x.All()), "By": slices.Collect(x.By("word", "word")), "List": by.List(), "all": x.Snapshot().List(),
		"Find": either, "Select": x.Select("a", nil), "Select by a label": x.Select("", parsed(t, "!none")),
	} {
		require.Equal(t, want, serials(objects), name)
	}
}

// The store holds nil and typed nils like other objects. A view leaves out objects of other types,
// and returns an error for them on request.
func TestAViewOfWhatIsNotOfItsType(t *testing.T) {
	w, err := New(Options{})
	require.NoError(t, err)
	typedNil, other, none := Key{Name: "typed nil"}, Key{Name: "other"}, Key{Name: "nil"}
	update(w, func(tx *Tx) {
		tx.Put(0, typedNil, (*item)(nil), 0)
		tx.Put(0, other, 7, 0)
		tx.Put(0, none, nil, 0)
	})
	for key, want := range map[Key]any{typedNil: (*item)(nil), other: 7, none: nil} {
		got, ok := w.Indexer().Get(key)
		require.True(t, ok)
		require.Equal(t, want, got, key.Name)
		it, ok, err := GetChecked[*item](w.Indexer(), key)
		require.Equal(t, key == typedNil, ok)
		require.Nil(t, it, key.Name)
		if !ok {
			require.ErrorIs(t, err, ErrType)
			require.EqualError(t, err, fmt.Sprintf("object %q: the object has another type: want *indexer.item, got %T", key, want))
		}
		_, again := items(w).Get(key)
		require.Equal(t, ok, again)
		named, ok := View[titled](w.Indexer()).Get(key)
		require.Equal(t, key == typedNil, ok)
		require.Equal(t, key == typedNil, named != nil, key.Name)
	}
	_, ok, err := GetChecked[*item](w.Indexer(), Key{Name: "nowhere"})
	require.False(t, ok)
	require.NoError(t, err)
	require.Equal(t, 3, items(w).Len())
	require.Equal(t, []*item{nil}, items(w).Snapshot().List())
	require.Equal(t, []*item{nil}, slices.Collect(items(w).All()))
	require.ElementsMatch(t, []any{(*item)(nil), 7, nil}, w.Indexer().Snapshot().List())
	require.Nil(t, View[*Key](w.Indexer()).Snapshot().List(), "there are none")
}

// SelectChecked names the key of an object of another type, whichever list the selection starts from.
func TestASelectionReportsAnObjectOfAnotherType(t *testing.T) {
	w, err := New(Options{})
	require.NoError(t, err)
	it, other := &item{}, Key{Name: "other"}
	update(w, func(tx *Tx) { tx.Put(0, other, 7, 0) })
	for _, want := range [][]*item{nil, {it}} {
		for _, selector := range []labels.Selector{nil, parsed(t, "!none")} {
			got, err := SelectChecked[*item](w.Indexer(), "", selector)
			require.Equal(t, want, got)
			require.ErrorIs(t, err, ErrType)
			require.ErrorContains(t, err, `object "other": the object has another type: want *indexer.item, got int`)
			require.Equal(t, want, items(w).Select("", selector))
			_, err = SelectChecked[any](w.Indexer(), "", selector)
			require.NoError(t, err)
		}
		update(w, func(tx *Tx) { tx.Put(0, Key{Name: "item"}, it, 0) })
	}
	update(w, func(tx *Tx) { tx.Delete(other) })
	got, err := SelectChecked[*item](w.Indexer(), "", nil)
	require.NoError(t, err)
	require.Equal(t, []*item{it}, got)
	require.ErrorIs(t, leftOut[*item](&w.Indexer().store, 7), ErrType, "one that is gone by now")
}

// An index of one type leaves out an object of another, and keeps all the others.
func TestAnIndexLeavesOutAnObjectOfAnotherType(t *testing.T) {
	var recorded []*IndexError
	o := Options{Indexes: untyped(Index[*item]{Name: "word", Append: words}), Report: func(e *IndexError) { recorded = append(recorded, e) }}
	w, err := New(o)
	require.NoError(t, err)
	key := Key{Name: "other"}
	update(w, func(tx *Tx) {
		tx.Put(0, Key{Name: "a"}, &item{words: []string{"word"}}, 0)
		tx.Put(0, key, 7, 0)
	})
	require.Len(t, recorded, 1)
	require.ErrorIs(t, recorded[0], ErrType)
	require.ErrorContains(t, recorded[0], "want *indexer.item, got int")
	require.Equal(t, key, recorded[0].Key)
	n, some := w.Unindexed()
	require.Equal(t, 1, n)
	require.Equal(t, recorded, some)
	require.Len(t, slices.Collect(w.Indexer().By("word", "word")), 1)

	update(w, func(tx *Tx) {
		for i := range 4 {
			tx.Put(0, Key{Name: fmt.Sprint(i)}, 7, 0)
		}
	})
	n, some = w.Unindexed()
	require.Equal(t, 5, n)
	require.Len(t, some, maxNamed)
	require.Subset(t, recorded, some)
	update(w, func(tx *Tx) {
		for _, e := range recorded {
			tx.Put(0, e.Key, &item{}, 0)
		}
	})
	require.Zero(t, countUnindexed(w))
}

func countUnindexed(w *Writer) int {
	n, _ := w.Unindexed()
	return n
}

func BenchmarkGet(b *testing.B) {
	const n = 100_000
	w := filled(b, n)
	keys := w.Indexer().Keys()
	rand.New(rand.NewPCG(1, 1)).Shuffle(n, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	b.Run("any", func(b *testing.B) { gets(b, w.Indexer(), keys) })
	b.Run("pointer", func(b *testing.B) { gets(b, items(w), keys) })
	b.Run("interface", func(b *testing.B) { gets(b, View[titled](w.Indexer()), keys) })
	b.Run("some", func(b *testing.B) { gets(b, items(w), keys[:1000]) })
}

func gets[T any](b *testing.B, x *Indexer[T], keys []Key) {
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, ok := x.Get(keys[i%len(keys)]); !ok {
			b.Fatal("it is there")
		}
	}
}

func BenchmarkList(b *testing.B) {
	w := filled(b, 100_000)
	b.Run("any", func(b *testing.B) { lists(b, w.Indexer()) })
	b.Run("pointer", func(b *testing.B) { lists(b, items(w)) })
	b.Run("range", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for range items(w).All() {
			}
		}
	})
}

func lists[T any](b *testing.B, x *Indexer[T]) {
	b.ReportAllocs()
	for b.Loop() {
		x.Snapshot().List()
	}
}

func BenchmarkPut(b *testing.B) {
	w := filled(b, 100_000)
	all := w.Indexer().Snapshot().List()
	b.ReportAllocs()
	for i := 0; b.Loop(); {
		update(w, func(tx *Tx) {
			for range 100 {
				it := all[i*7919%len(all)].(*item)
				tx.Put(0, it.key, it, 0)
				i++
			}
		})
	}
}

// BenchmarkFullState commits full states with two index functions: into an empty store, and over the same keys.
func BenchmarkFullState(b *testing.B) {
	all := filled(b, 100_000).Indexer().Snapshot().List()
	commit := func(w *Writer) {
		s := w.Stage(0)
		for _, obj := range all {
			s.Put(obj.(*item).key, obj, 0)
		}
		s.Commit("1", Visitor{})
	}
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			w, err := New(itemOptions())
			require.NoError(b, err)
			commit(w)
		}
	})
	b.Run("next", func(b *testing.B) {
		w := filled(b, len(all))
		b.ReportAllocs()
		for b.Loop() {
			commit(w)
		}
	})
}
