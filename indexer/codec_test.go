package indexer

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/internal/testutil/fakecodec"
)

// encodedItems returns a store of ten items, a/n0 to b/n9, that holds them encoded. All
// are under the word "all", and every second has the label odd.
func encodedItems(t *testing.T) (w *Writer, c *fakecodec.Codec, decoded func(want int, msg ...any)) {
	t.Helper()
	unchecked(t) // the self-check would decode all objects
	o, c := itemOptions(), new(fakecodec.Codec)
	o.Codec, o.LabelIndexes = c, []string{"odd"}
	w, err := New(o)
	require.NoError(t, err)
	update(w, func(tx *Tx) {
		for i := range 10 {
			it := numberedItem(i)
			tx.Put(0, it.key, it, 1)
		}
	})
	return w, c, func(want int, msg ...any) {
		t.Helper()
		require.Equal(t, want, c.Decoded(), msg...)
	}
}

func numberedItem(i int) *item {
	labels := map[string]string{"n": fmt.Sprint(i)}
	if i%2 == 1 {
		labels["odd"] = "yes"
	}
	return &item{key: Key{string("ab"[i%2]), fmt.Sprint("n", i)}, serial: i, labels: labels, words: []string{"all", fmt.Sprint(i)}}
}

func always(any, uint64) bool { return true }

// A written object is encoded once, and decoded once for the index functions; labels are read from its
// stored form.
func TestWritingDecodesForIndexFunctions(t *testing.T) {
	w, c, decoded := encodedItems(t)
	decoded(10)
	require.Equal(t, 10, c.Encoded())
	it := numberedItem(3)
	update(w, func(tx *Tx) {
		before, _ := tx.Get(it.key)
		put, old, replaced := tx.Put(0, it.key, it, 2)
		require.True(t, replaced)
		require.Same(t, before.Object, old.Object)
		require.EqualValues(t, 1, old.Stamp)
		now, ok := w.Stored(it.key)
		require.True(t, ok)
		require.Same(t, now, put)
		require.Equal(t, 10, tx.Snapshot().Len())
		require.NotNil(t, tx.Snapshot().At(0))
		last, _ := tx.Delete(Key{"a", "n0"})
		require.NotNil(t, last)
	})
	decoded(1)
	require.Equal(t, 11, c.Encoded())

	s := w.Stage(0)
	for i := 1; i < 10; i++ {
		it := numberedItem(i)
		switch i % 3 {
		case 0:
			require.True(t, s.Keep(it.key, always))
		case 1:
			s.Put(it.key, it, 0)
			s.Put(it.key, it, 0)
		}
	}
	require.Equal(t, 3+3, s.Commit("2", Visitor{}))
	decoded(3)
	require.Equal(t, 11+6, c.Encoded())
	require.Equal(t, 6, w.Indexer().Len())
}

// A replacement that is built aside decodes no more.
func TestALargeReplacementDecodesForIndexFunctions(t *testing.T) {
	w, c, decoded := encodedItems(t)
	decoded(10)
	s := w.Stage(0)
	require.True(t, s.Keep(Key{"a", "n0"}, nil))
	for i := range rebuildAbove + 1 {
		it := &item{key: Key{"c", fmt.Sprint(i)}, words: []string{"many"}}
		s.Put(it.key, it, 0)
	}
	s.Commit("2", Visitor{})
	decoded(rebuildAbove + 1)
	require.Equal(t, 10+rebuildAbove+1, c.Encoded())
	found, err := w.Indexer().Lookup("word", "many")
	require.NoError(t, err)
	require.Equal(t, rebuildAbove+1, found.Len())
}

// Readers decode the objects that they return, and no others.
func TestReadersDecodeWhatTheyAreHanded(t *testing.T) {
	odd := requirement{key: "odd", op: opIn, values: []string{"yes"}}
	number := requirement{key: "n", op: opOther, match: func(set map[string]string) bool { return set["n"] == "3" }}
	for name, c := range map[string]struct {
		read func(t *testing.T, x *Indexer[*item])
		want int
	}{
		"Get": {func(t *testing.T, x *Indexer[*item]) {
			it, ok := x.Get(Key{"b", "n3"})
			require.True(t, ok)
			require.Equal(t, 3, it.serial)
		}, 1},
		"Get of nothing": {func(t *testing.T, x *Indexer[*item]) {
			_, ok := x.Get(Key{"b", "n4"})
			require.False(t, ok)
		}, 0},
		"GetChecked": {func(t *testing.T, x *Indexer[*item]) {
			it, ok, err := GetChecked[*item]((*Indexer[any])(x), Key{"b", "n3"})
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, 3, it.serial)
		}, 1},
		"List": {func(t *testing.T, x *Indexer[*item]) { require.Len(t, x.Snapshot().List(), 10) }, 10},
		"a list of any": {func(t *testing.T, x *Indexer[*item]) {
			all := View[any]((*Indexer[any])(x)).Snapshot().List()
			require.Len(t, all, 10)
			require.IsType(t, new(item), all[0])
		}, 10},
		"At": {func(t *testing.T, x *Indexer[*item]) { require.NotNil(t, x.Snapshot().At(7)) }, 1},
		"a loop that ends": {func(t *testing.T, x *Indexer[*item]) {
			n := 0
			for it := range x.All() {
				require.NotEmpty(t, it.words)
				if n++; n == 4 {
					break
				}
			}
		}, 4},
		"By": {func(t *testing.T, x *Indexer[*item]) {
			for it := range x.By("word", "3") {
				require.Equal(t, 3, it.serial)
			}
		}, 1},
		"Union": {func(t *testing.T, x *Indexer[*item]) {
			found, err := union(x, "word", "3", "4", "none")
			require.NoError(t, err)
			require.Len(t, found, 2)
		}, 2},
		"a selector with an index": {func(t *testing.T, x *Indexer[*item]) {
			require.Len(t, selected(x, "", odd), 5)
		}, 5},
		"one that no index answers": {func(t *testing.T, x *Indexer[*item]) {
			require.Len(t, selected(x, "", odd, number), 1)
		}, 1},
		"keys": {func(t *testing.T, x *Indexer[*item]) {
			require.Len(t, x.Keys(), 10)
			keys, err := x.keysBy("word", "all")
			require.NoError(t, err)
			require.Len(t, keys, 10)
			_, err = x.Values("word")
			require.NoError(t, err)
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w, _, decoded := encodedItems(t)
			decoded(10)
			c.read(t, items(w))
			decoded(c.want)
		})
	}
}

// The error for an object of another type names its key, as without a codec.
func TestAnEncodedObjectOfAnotherType(t *testing.T) {
	w, _, _ := encodedItems(t)
	key := Key{"b", "n1"}
	x := View[string](w.Indexer())
	_, ok := x.Get(key)
	require.False(t, ok)
	_, _, err := GetChecked[string](w.Indexer(), key)
	require.ErrorIs(t, err, ErrType)
	require.ErrorContains(t, err, key.String())
	found, err := SelectChecked[string](w.Indexer(), "b", parsed(t, "n=1"))
	require.Empty(t, found)
	require.ErrorIs(t, err, ErrType)
	require.ErrorContains(t, err, key.String())
	require.ErrorContains(t, err, "*indexer.item")
	require.Empty(t, x.Snapshot().List())
	_, err = SelectChecked[string](w.Indexer(), "b", nil)
	require.ErrorIs(t, err, ErrType)
}

// Adding an index with a function decodes every object.
func TestAnIndexThatIsAddedDecodes(t *testing.T) {
	w, _, decoded := encodedItems(t)
	decoded(10)
	require.NoError(t, w.AddIndexes(Index[any]{Name: "more", ByNamespace: true}))
	decoded(0)
	require.NoError(t, w.AddIndexes(Index[*item]{Name: "again", Append: words}.Untyped()))
	decoded(10)
	require.Len(t, selected(w.Indexer(), "", requirement{key: "n", op: opIn, values: []string{"1"}}), 1)
	decoded(1, "what is found")
	for range 10 {
		selected(w.Indexer(), "", requirement{key: "n", op: opIn, values: []string{"none"}})
	}
	decoded(0, "for the index of a label")
	found, err := w.Indexer().Lookup("again", "all")
	require.NoError(t, err)
	require.Equal(t, 10, found.Len())
}

// An object put back in its stored form is decoded if an index has to read it.
func TestWhatComesBackIsDecodedForIndexes(t *testing.T) {
	key := Key{"b", "n3"}
	for name, c := range map[string]struct {
		stage func(w *Writer, s *Staging)
		want  int
	}{
		"put as it is stored": {func(w *Writer, s *Staging) {
			stored, _ := w.Stored(key)
			s.Put(key, stored, 1)
		}, 1},
		"put as it is stored, and then anew": {func(w *Writer, s *Staging) {
			stored, _ := w.Stored(key)
			s.Put(key, stored, 1)
			s.Put(key, numberedItem(3), 1)
		}, 1},
		"put, and then as it is stored": {func(w *Writer, s *Staging) {
			stored, _ := w.Stored(key)
			s.Put(Key{"b", "n5"}, numberedItem(5), 1)
			s.Put(key, &item{key: key, serial: 99}, 1)
			s.Put(key, stored, 1)
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			w, _, decoded := encodedItems(t)
			s := w.Stage(0)
			c.stage(w, s)
			decoded(10)
			s.Commit("2", Visitor{})
			decoded(c.want)
			found, err := items(w).Lookup("word", "3")
			require.NoError(t, err)
			require.Equal(t, 1, found.Len())
			require.Equal(t, 3, found.At(0).serial)
		})
	}
}

// An object put back into a write section in its stored form is decoded once, for the indexes.
func TestAnObjectPutBackInAWriteSection(t *testing.T) {
	w, c, decoded := encodedItems(t)
	decoded(10)
	key := Key{"b", "n3"}
	stored, _ := w.Stored(key)
	update(w, func(tx *Tx) {
		tx.Delete(key)
		put, _, _ := tx.Put(0, key, stored, 1)
		require.Same(t, stored, put)
	})
	decoded(1)
	require.Equal(t, 10, c.Encoded())
	found, err := items(w).Lookup("word", "3")
	require.NoError(t, err)
	require.Equal(t, 1, found.Len())
}

// Indexes by the keys' namespaces decode nothing.
func TestIndexesByKeyDecodeNothing(t *testing.T) {
	unchecked(t)
	c := new(fakecodec.Codec)
	w, err := New(Options{Codec: c, Indexes: []Index[any]{{Name: NamespaceIndex, ByNamespace: true}}})
	require.NoError(t, err)
	key := Key{"a", "n"}
	update(w, func(tx *Tx) { tx.Put(0, key, 1, 0) })
	s := w.Stage(0)
	stored, _ := w.Stored(key)
	s.Put(key, stored, 0)
	s.Put(Key{"a", "m"}, stored, 0)
	require.Equal(t, 2, s.Commit("2", Visitor{}))
	update(w, func(tx *Tx) { tx.Put(0, key, stored, 0) })
	require.Zero(t, c.Decoded())
	require.Equal(t, 1, c.Encoded())
	_, ok := w.Stored(Key{"a", "none"})
	require.False(t, ok)
	require.Equal(t, []any{1, 1}, w.Indexer().Snapshot().List())
}

// The codec hears of each stored form that comes and goes.
func TestACodecCountsWhatIsHeld(t *testing.T) {
	w, c, _ := encodedItems(t)
	held := func(want int) {
		t.Helper()
		require.Equal(t, want, w.Indexer().Len())
		require.Equal(t, want, c.Held())
	}
	held(10)
	stored, _ := w.Stored(numberedItem(1).key)
	update(w, func(tx *Tx) {
		tx.Put(0, numberedItem(1).key, stored, 1)
		tx.Put(0, numberedItem(2).key, numberedItem(2), 1)
		tx.Delete(numberedItem(3).key)
		tx.Delete(Key{"a", "none"})
	})
	held(9)
	for _, n := range []int{5, rebuildAbove + 20, 7} { // in place, and built aside
		s := w.Stage(0)
		s.Keep(numberedItem(1).key, nil)
		for i := range n {
			s.Put(numberedItem(i+1).key, numberedItem(i+1), 2)
		}
		s.Commit("9", Visitor{})
		held(n)
	}
	for _, n := range []int{5, rebuildAbove + 20} { // one that is dropped
		s := w.Stage(0)
		for i := range n {
			s.Put(numberedItem(i+1).key, numberedItem(i+1), 3)
		}
		require.Panics(t, func() {
			s.Commit("9", Visitor{Put: func(_ Key, _, _ any, replaced bool) {
				if n > rebuildAbove && !replaced {
					panic("dropped")
				}
			}, Commit: func(*Tx) { panic("shown") }})
		})
		held(w.Indexer().Len())
	}
	w.StageAll().Commit("10", Visitor{})
	held(0)
}

// Without a codec, the store holds the object itself.
func TestWithoutACodec(t *testing.T) {
	w, x := newItems(t, 1)
	it, _ := x.Get(Key{"a", "n"})
	require.Same(t, it, w.Encode(it))
	stored, _ := w.Stored(Key{"a", "n"})
	require.Same(t, it, stored)
}
