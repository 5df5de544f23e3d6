package indexer

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A snapshot taken inside a write section is not cached: no other reader sees half of a section.
func TestASnapshotOfASectionDoesNotShowToOthers(t *testing.T) {
	w, x := newItems(t, 1)
	k, other := Key{"a", "n"}, Key{"a", "other"}
	tx := w.Begin()
	tx.Put(0, k, &item{key: k, serial: 2}, 0)
	half := Snapshot[*item](tx.Snapshot())
	seen := make(chan []int)
	go func() { seen <- serialsOf(x) }()
	tx.Put(0, other, &item{key: other, serial: 3}, 0)
	tx.Commit()
	require.Equal(t, []int{2, 3}, <-seen, "the whole section")
	require.Equal(t, 1, half.Len(), "and the section itself has what it had then")
	require.Equal(t, 2, half.At(0).serial)
}

// A section that panics leaves no lock held.
func TestASectionThatPanics(t *testing.T) {
	w, x := newItems(t, 1)
	k := Key{"a", "n"}
	require.PanicsWithValue(t, "on purpose", func() {
		tx := w.Begin()
		defer tx.Commit()
		tx.Put(0, k, &item{key: k, serial: 2}, 0)
		panic("on purpose")
	})
	putPart(w, 0, 3)
	require.Equal(t, []int{3}, serialsOf(x))
	w.Stage(0).Commit("1", Visitor{})
	require.Empty(t, serialsOf(x))
}

// Faults returns the failures of index functions in this section only.
func TestASectionKnowsItsFaults(t *testing.T) {
	w, _ := newItems(t)
	k := Key{"a", "n"}
	tx := w.Begin()
	require.Empty(t, tx.Faults())
	tx.Put(0, k, &item{key: k, words: []string{"!"}}, 0)
	require.Len(t, tx.Faults(), 1)
	require.Equal(t, k, tx.Faults()[0].Key)
	tx.Commit()
	tx = w.Begin()
	defer tx.Commit()
	require.Empty(t, tx.Faults())
}

// Failures that the caller of Faults has got are not reported once more, later ones are.
func TestFaultsAreReportedOnce(t *testing.T) {
	var recorded []string
	o := itemOptions()
	o.Report = func(e *IndexError) { recorded = append(recorded, e.Key.Name) }
	w, err := New(o)
	require.NoError(t, err)
	put := func(tx *Tx, name string) { tx.Put(0, Key{Name: name}, &item{words: []string{"!"}}, 0) }
	update(w, func(tx *Tx) {
		put(tx, "a")
		require.Len(t, tx.Faults(), 1)
		put(tx, "b")
	})
	require.Equal(t, []string{"b"}, recorded)
	update(w, func(tx *Tx) { put(tx, "a") })
	require.Equal(t, []string{"b", "a"}, recorded)
}

// The caller gets an object's stamp back between two write sections, and when a full state compares
// the object.
func TestAStampIsDeliveredWithItsObject(t *testing.T) {
	w, err := New(Options{})
	require.NoError(t, err)
	key, it := Key{Name: "a"}, &item{serial: 1}
	update(w, func(tx *Tx) { tx.Put(3, key, it, 7) })
	w.Freeze(func(tx *Tx) {
		stored, ok := tx.Get(key)
		require.True(t, ok)
		require.Equal(t, Stored{Object: it, Source: 3, Stamp: 7}, stored)
		_, ok = tx.Get(Key{Name: "b"})
		require.False(t, ok)
	})
	for _, yes := range []bool{false, true} {
		s := w.Stage(3)
		require.Equal(t, yes, s.Keep(key, func(obj any, stamp uint64) bool {
			require.Same(t, it, obj)
			require.EqualValues(t, 7, stamp)
			return yes
		}))
		if yes {
			require.Zero(t, s.Commit("1", Visitor{}))
		}
	}
	require.Equal(t, 1, w.Indexer().Len())
}
