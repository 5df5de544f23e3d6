package indexer

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"
	"weak"

	"github.com/stretchr/testify/require"
)

// letsGo replaces all objects of a store by many objects with other keys, which is built aside. It
// reports whether the collector frees an object that was stored before.
func letsGo(t *testing.T, w *Writer, before *weak.Pointer[item]) bool {
	t.Helper()
	s := w.Stage(0)
	for i := range rebuildAbove + 1 {
		key := Key{"b", fmt.Sprint(i)}
		s.Put(key, &item{key: key, words: []string{"w"}}, 0)
	}
	s.Commit("2", Visitor{})
	for range 20 {
		runtime.GC()
		if before.Value() == nil {
			return true
		}
		time.Sleep(time.Millisecond)
	}
	return false
}

// storeOf returns a store with a special object and an ordinary one, and a weak pointer to the
// ordinary one.
func storeOf(t *testing.T, special *item) (*Writer, *weak.Pointer[item]) {
	t.Helper()
	w, err := New(itemOptions())
	require.NoError(t, err)
	good := &item{key: Key{"a", "good"}, words: []string{"w"}}
	p := weak.Make(good)
	update(w, func(tx *Tx) {
		tx.Put(0, special.key, special, 0)
		tx.Put(0, good.key, good, 0)
	})
	return w, &p
}

// Replaced contents are garbage, also after an index function has failed.
func TestAFailureHoldsNoContents(t *testing.T) {
	w, good := storeOf(t, &item{key: Key{"a", "bad"}, words: []string{"!"}})
	require.True(t, letsGo(t, w, good), "w.failures pins the index of before, and with it all its objects")
	runtime.KeepAlive(w)
}

// Replaced contents are garbage, also after an object with more index values than any present one.
func TestPlacesHoldNoContents(t *testing.T) {
	w, good := storeOf(t, &item{key: Key{"a", "long"}, words: []string{"1", "2", "3", "4", "5"}})
	require.True(t, letsGo(t, w, good), "w.postings and w.indexKeys pin the indexes of before, and with them all their objects")
	runtime.KeepAlive(w)
}

// The index values of a deleted object leave memory, whether another object with fewer values is
// written after it or not.
func TestIndexValuesOfADeletedObjectLeaveMemory(t *testing.T) {
	for _, another := range []bool{false, true} {
		w, err := New(itemOptions())
		require.NoError(t, err)
		key, first, second := Key{"a", "secret"}, strings.Repeat("1", 100), strings.Repeat("2", 100) // too long for a node
		values := []weak.Pointer[byte]{weak.Make(unsafe.StringData(first)), weak.Make(unsafe.StringData(second))}
		update(w, func(tx *Tx) {
			tx.Put(0, key, &item{key: key, words: []string{first, first, second}}, 0)
			if another {
				tx.Put(0, Key{"a", "b"}, &item{key: Key{"a", "b"}, words: []string{"w"}}, 0)
			}
		})
		update(w, func(tx *Tx) { tx.Delete(key) })
		for range 20 {
			runtime.GC()
		}
		for _, value := range values {
			require.Nil(t, value.Value(), "a scratch slice holds it")
		}
		runtime.KeepAlive(w)
	}
}
