package indexer

import (
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/require"
)

func newItems(t *testing.T, serials ...int) (*Writer, *Indexer[*item]) {
	w, err := New(itemOptions())
	require.NoError(t, err)
	update(w, func(tx *Tx) {
		for _, n := range serials {
			tx.Put(0, Key{"a", "n"}, &item{key: Key{"a", "n"}, serial: n}, 0)
		}
	})
	i := items(w)
	return w, i
}

func serialsOf(x *Indexer[*item]) (serials []int) {
	for it := range x.All() {
		serials = append(serials, it.serial)
	}
	slices.Sort(serials)
	return serials
}

// A stream of the initial state may bring an object, change it and delete it
// before the state is complete.
func TestWhatIsPutTwiceAndDroppedIsGone(t *testing.T) {
	for _, indexed := range []bool{false, true} {
		w, x := newItems(t)
		k := Key{"a", "n"}
		s := w.Stage(0)
		if indexed {
			s.Drop(Key{"a", "other"}) // makes the table of pending keys
		}
		s.Put(k, &item{key: k, serial: 1}, 0)
		s.Put(k, &item{key: k, serial: 2}, 0)
		s.Drop(k)
		s.Commit("1", Visitor{})
		require.Empty(t, serialsOf(x))
	}
}

// A user who replaces the whole store by hand may put and drop an object, too.
func TestWhatIsDroppedFromAStateOfTheWholeStoreIsGone(t *testing.T) {
	for _, stored := range [][]int{nil, {1}} {
		w, x := newItems(t, stored...)
		s := w.StageAll()
		k, other := Key{"a", "n"}, Key{"a", "other"}
		s.Put(k, &item{key: k, serial: 2}, 0)
		s.Put(other, &item{key: other, serial: 3}, 0)
		s.Drop(k)
		s.Commit("1", Visitor{})
		require.Equal(t, []int{3}, serialsOf(x))
	}
}

func TestWhatIsDroppedAndPutAgainIsThere(t *testing.T) {
	w, x := newItems(t, 1)
	k := Key{"a", "n"}
	s := w.Stage(0)
	require.True(t, s.Keep(k, nil))
	s.Drop(k)
	s.Put(k, &item{key: k, serial: 2}, 0)
	s.Drop(k)
	s.Put(k, &item{key: k, serial: 3}, 0)
	var recorded []int
	s.Commit("1", Visitor{
		Deleted: func(Key, any) { require.Fail(t, "it is there") },
		Put:     func(_ Key, old, it any, _ bool) { recorded = append(recorded, asItem(old).serial, asItem(it).serial) },
	})
	require.Equal(t, []int{3}, serialsOf(x))
	require.Equal(t, []int{1, 3}, recorded)
}

// Readers see no change of a large full state before its commit; until then they read the earlier
// objects.
func TestNothingOfALargeFullStateShowsBeforeItsCommit(t *testing.T) {
	w, err := New(itemOptions())
	require.NoError(t, err)
	x := items(w)
	const n = rebuildAbove + 100
	fill := func(serial int, v Visitor) {
		s := w.Stage(0)
		for i := range n {
			key := Key{"a", strconv.Itoa(i)}
			words := []string{"of " + strconv.Itoa(serial), "all", key.Name}
			s.Put(key, &item{key: key, serial: serial - 1, words: words}, 0)
			s.Put(key, &item{key: key, serial: serial, words: words}, 0) // an update within the state
		}
		s.Commit("", v)
	}
	shows := func(serial int, key Key) {
		it, ok := x.Get(key)
		require.True(t, ok)
		require.Equal(t, serial, it.serial)
		list, err := union(x, "word", key.Name)
		require.NoError(t, err)
		require.Equal(t, []*item{it}, list)
		all, _ := x.Lookup("word", "all")
		require.Equal(t, serial, all.At(n/2).serial)
		of, _ := x.Lookup("word", "of "+strconv.Itoa(serial))
		require.Equal(t, n, of.Len())
	}
	fill(1, Visitor{})
	fill(3, Visitor{Put: func(key Key, _, _ any, _ bool) { shows(1, key) }})
	shows(3, Key{"a", "0"})
	require.Equal(t, slices.Repeat([]int{3}, n), serialsOf(x))
}

// A snapshot keeps its own objects in memory, but not the later ones of a large full state.
func TestASnapshotKeepsNothingAliveThatIsNotInIt(t *testing.T) {
	w, x := newItems(t, 1)
	k := Key{"a", "n"}
	held := []Snapshot[*item]{x.Snapshot()}
	of, err := x.Lookup(NamespaceIndex, "a")
	require.NoError(t, err)
	held = append(held, of)

	s := w.Stage(0)
	require.True(t, s.Keep(k, nil))
	for i := range rebuildAbove + 1 {
		key := Key{"b", strconv.Itoa(i)}
		s.Put(key, &item{key: key}, 0)
	}
	s.Commit("", Visitor{})
	var later weak.Pointer[item]
	update(w, func(tx *Tx) {
		it := &item{key: k, serial: 2}
		later = weak.Make(it)
		tx.Put(0, k, it, 0)
		tx.Delete(k)
	})
	require.Eventually(t, func() bool {
		runtime.GC()
		return later.Value() == nil
	}, 10*time.Second, time.Millisecond)
	for _, s := range held {
		require.Equal(t, 1, s.At(0).serial)
	}
}

// Updates find their objects under indexes by key, and under an index added later.
func TestUpdatesUnderIndexesByKey(t *testing.T) {
	w, err := New(Options{Indexes: []Index[any]{{Name: NamespaceIndex, ByNamespace: true}}})
	require.NoError(t, err)
	x := items(w)
	keys := []Key{{"a", "1"}, {"a", "2"}, {"b", "1"}}
	put := func(serial int) {
		update(w, func(tx *Tx) {
			for _, k := range keys {
				tx.Put(0, k, &item{key: k, serial: serial, words: []string{strconv.Itoa(serial)}}, 0)
			}
		})
	}
	shows := func(serial int, index, value string, n int) {
		list, err := x.Lookup(index, value)
		require.NoError(t, err)
		require.Equal(t, n, list.Len())
		for it := range list.All() {
			require.Equal(t, serial, it.serial)
		}
	}
	for serial := range 3 {
		put(serial)
		shows(serial, NamespaceIndex, "a", 2)
		shows(serial, NamespaceIndex, "b", 1)
	}
	require.NoError(t, w.AddIndexes(Index[*item]{Name: "word", Append: words}.Untyped()))
	put(7)
	shows(7, NamespaceIndex, "a", 2)
	shows(7, "word", "7", 3)
	shows(7, "word", "2", 0)
}

// T19: a user may write during a full state. What the full state puts is stored after it. An object that it keeps
// stays as the user leaves it.
func TestWhatIsKeptIsNotChangedByHand(t *testing.T) {
	by := map[string]func(w *Writer, k Key){
		"set":   func(w *Writer, k Key) { update(w, func(tx *Tx) { set(tx, k, &item{key: k, serial: 9}) }) },
		"unset": func(w *Writer, k Key) { update(w, func(tx *Tx) { tx.Delete(k) }) },
		"replace": func(w *Writer, k Key) {
			all := w.StageAll()
			all.Put(k, &item{key: k, serial: 9}, 0)
			all.Commit("", Visitor{})
		},
		"replace by very much": func(w *Writer, k Key) {
			all := w.StageAll()
			all.Put(k, &item{key: k, serial: 9}, 0)
			for i := range rebuildAbove + 1 {
				key := Key{"b", strconv.Itoa(i)}
				all.Put(key, &item{key: key, serial: 9}, 0)
			}
			all.Commit("", Visitor{})
		},
		"replace by nothing": func(w *Writer, _ Key) { w.StageAll().Commit("", Visitor{}) },
	}
	for name, hand := range by {
		t.Run(name, func(t *testing.T) {
			w, x := newItems(t, 1)
			k := Key{"a", "n"}
			s := w.Stage(0)
			require.True(t, s.Keep(k, nil))
			hand(w, k)
			left, stored := x.Get(k)
			s.Commit("1", Visitor{})
			now, kept := x.Get(k)
			require.Equal(t, stored, kept)
			require.Same(t, left, now)
		})
		t.Run(name+" after a put", func(t *testing.T) {
			w, x := newItems(t, 1)
			k := Key{"a", "n"}
			s := w.Stage(0)
			s.Put(k, &item{key: k, serial: 2}, 0)
			hand(w, k)
			s.Commit("1", Visitor{})
			require.Equal(t, []int{2}, serialsOf(x), "the full state's version")
		})
	}
}

// Keep refers to the object stored now. It replaces an earlier Put or Keep of the key.
func TestWhatIsKeptIsTheLastWord(t *testing.T) {
	k := Key{"a", "n"}
	set := func(w *Writer) { update(w, func(tx *Tx) { set(tx, k, &item{key: k, serial: 9}) }) }
	for name, before := range map[string]func(w *Writer, s *Staging){
		"after a put": func(_ *Writer, s *Staging) { s.Put(k, &item{key: k, serial: 2}, 0) },
		"kept, set":   func(w *Writer, s *Staging) { s.Keep(k, nil); set(w) },
		"put, set":    func(w *Writer, s *Staging) { s.Put(k, &item{key: k, serial: 2}, 0); set(w) },
		"kept, unset, set": func(w *Writer, s *Staging) {
			s.Keep(k, nil)
			update(w, func(tx *Tx) { tx.Delete(k) })
			set(w)
		},
		"kept, all replaced": func(w *Writer, s *Staging) {
			s.Keep(k, nil)
			all := w.StageAll()
			all.Put(k, &item{key: k, serial: 9}, 0)
			all.Commit("", Visitor{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, x := newItems(t, 1)
			s := w.Stage(0)
			before(w, s)
			want := serialsOf(x)
			require.True(t, s.Keep(k, nil))
			s.Commit("1", Visitor{})
			require.Equal(t, want, serialsOf(x))
		})
	}
}

// A user's writes and a full state may race on different goroutines.
func TestWritesByHandRaceAFullState(t *testing.T) {
	w, x := newItems(t)
	key := func(n int) Key { return Key{"a", strconv.Itoa(n)} }
	const n = 50
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			k := key(i % n)
			update(w, func(tx *Tx) { set(tx, k, &item{key: k, serial: -i}) })
		}
	})
	for range 100 {
		s := w.Stage(0)
		for i := range n {
			if !s.Keep(key(i), nil) || i%2 == 0 {
				s.Put(key(i), &item{key: key(i), serial: i}, 0)
			}
		}
		s.Commit("1", Visitor{})
	}
	close(done)
	wg.Wait()
	require.Equal(t, n, x.Len())
}

func TestAFullStateThatIsGivenUpLeavesNoTrace(t *testing.T) {
	w, x := newItems(t, 1)
	k := Key{"a", "n"}
	for range 3 {
		s := w.Stage(1)
		s.Put(k, &item{key: k, serial: 2}, 0)
		update(w, func(tx *Tx) {
			stored, ok := tx.Get(k)
			require.True(t, ok)
			require.Zero(t, stored.Source)
		})
	}
	require.Equal(t, []int{1}, serialsOf(x))
}
