package indexer

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// ofAllTypes returns objects of many types.
func ofAllTypes() []any {
	return []any{&item{serial: 1}, 7, "text", nil, (*item)(nil), tagged{values: []string{"x"}}, [3]string{"a", "b", "c"}, &item{serial: 2}, ErrType}
}

func TestASlotHoldsAnything(t *testing.T) {
	for _, obj := range ofAllTypes() {
		s := slotOf(obj)
		require.Equal(t, obj, s.load())
		for _, other := range ofAllTypes() {
			require.Equal(t, fmt.Sprintf("%T", obj) == fmt.Sprintf("%T", other), s.takes(other), "%T takes %T", obj, other)
			if s.takes(other) {
				s.store(other)
				require.Equal(t, other, s.load())
				s.store(obj)
			}
		}
	}
}

// A key may hold objects of different types one after the other, in each way of writing.
func TestAnObjectOfAnotherTypeTakesThePlaceOfOne(t *testing.T) {
	key := Key{"a", "n"}
	staged := func(others int) func(w *Writer, obj any) {
		return func(w *Writer, obj any) {
			s := w.Stage(0)
			for i := range others {
				s.Put(Key{"a", fmt.Sprint("other", i)}, obj, 0)
			}
			s.Put(key, obj, 3)
			s.Commit("1", Visitor{})
		}
	}
	for name, write := range map[string]func(w *Writer, obj any){
		"put":          func(w *Writer, obj any) { update(w, func(tx *Tx) { tx.Put(0, key, obj, 3) }) },
		"set":          func(w *Writer, obj any) { update(w, func(tx *Tx) { set(tx, key, obj) }) },
		"a full state": staged(300), "a large full state": staged(rebuildAbove),
	} {
		t.Run(name, func(t *testing.T) {
			shape := func(v []string, obj any) []string { return append(v, fmt.Sprintf("%T", obj), "all") }
			w, err := New(Options{Indexes: []Index[any]{{Name: NamespaceIndex, ByNamespace: true}, {Name: "type", Append: shape}}})
			require.NoError(t, err)
			x := w.Indexer()
			for _, obj := range ofAllTypes() {
				before, had := x.Get(key)
				held := x.Snapshot()
				write(w, obj)
				got, ok := x.Get(key)
				require.True(t, ok)
				require.Equal(t, obj, got)
				for _, value := range []string{fmt.Sprintf("%T", obj), "all"} {
					found, err := x.Lookup("type", value)
					require.NoError(t, err)
					require.Equal(t, x.Len(), found.Len())
					require.Equal(t, obj, found.At(found.Len()-1))
				}
				if had && held.Len() == 1 {
					require.Equal(t, before, held.At(0), "a snapshot stays")
				}
				w.Freeze(func(*Tx) { w.check() })
			}
			update(w, func(tx *Tx) { tx.Delete(key) })
			_, ok := x.Get(key)
			require.False(t, ok)
		})
	}
}

// Readers of a slot that changes its type never see the type of one object with the data of another.
func TestReadersOfASlotWhoseTypeChanges(t *testing.T) {
	w, err := New(Options{})
	require.NoError(t, err)
	key := Key{Name: "a"}
	all := []any{&item{serial: 1}, &item{serial: 2}, "text", [3]string{"a", "b", "c"}, &item{serial: 3}}
	put := func(i int) { update(w, func(tx *Tx) { tx.Put(0, key, all[i%len(all)], 0) }) }
	put(0)
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			obj, ok := w.Indexer().Get(key)
			whole := ok
			switch obj := obj.(type) {
			case *item:
				whole = whole && obj.serial > 0 && obj.serial < 4
			case string:
				whole = whole && obj == "text"
			case [3]string:
				whole = whole && obj == [3]string{"a", "b", "c"}
			default:
				whole = false
			}
			if !whole {
				t.Errorf("%v is no object", obj)
				return
			}
		}
	})
	for i := range 20_000 {
		put(i)
	}
	close(done)
	wg.Wait()
}
