package indexer

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// endings are the ways in which a function fails to return.
var endings = map[string]func(){"panics": func() { panic("on purpose") }, "ends its goroutine": runtime.Goexit}

// aside calls f on a goroutine of its own, and waits until that has ended.
func aside(f func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() { _ = recover() }() // nil after a Goexit
		f()
	}()
	<-ended
}

// usable checks that a store can be read and written, and that its invariants hold.
func usable(t *testing.T, w *Writer) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		key := Key{"a", "usable"}
		update(w, func(tx *Tx) { tx.Put(0, key, &item{key: key, words: []string{"usable"}}, 0) })
		w.Freeze(func(*Tx) { w.check() })
		update(w, func(tx *Tx) { tx.Delete(key) })
		w.Indexer().Snapshot()
		w.Stage(0)
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		require.FailNow(t, "a lock is held")
	}
}

func TestAWriteSectionThatDoesNotReturnLeavesTheStoreUsable(t *testing.T) {
	for how, end := range endings {
		t.Run(how, func(t *testing.T) {
			w, x := newItems(t, 1)
			key := Key{"a", "new"}
			aside(func() {
				update(w, func(tx *Tx) {
					tx.Put(0, key, &item{key: key, serial: 2}, 0)
					end()
				})
			})
			usable(t, w)
			require.Equal(t, []int{1, 2}, serialsOf(x), "what it has done stays")
		})
	}
}

// If a visitor does not return, the store stays usable, after a small commit and a large one.
func TestACommitWhoseVisitorDoesNotReturnLeavesTheStoreUsable(t *testing.T) {
	for how, end := range endings {
		for when, visitor := range map[string]func() Visitor{
			"on a delete": func() Visitor { return Visitor{Deleted: func(Key, any) { end() }} },
			"on a put": func() Visitor {
				n := 0
				return Visitor{Put: func(Key, any, any, bool) {
					if n++; n == 10 {
						end()
					}
				}}
			},
			"on the end": func() Visitor { return Visitor{Commit: func(*Tx) { end() }} },
		} {
			for size, n := range map[string]int{"a small state": 20, "a large state": rebuildAbove + 20} {
				t.Run(fmt.Sprintf("%s, %s, %s", how, when, size), func(t *testing.T) {
					w, x := newItems(t)
					stored := func(serial int) *item {
						return &item{key: Key{"a", fmt.Sprint(serial % 100)}, serial: serial, words: []string{fmt.Sprint(serial), "!"}[:1+serial%2]}
					}
					update(w, func(tx *Tx) {
						for i := range 100 {
							tx.Put(0, stored(i).key, stored(i), 0)
						}
					})
					before := serialsOf(x)
					s := w.Stage(0)
					for i := range n {
						it := stored(100 + i)
						if i >= 50 {
							it.key.Name = fmt.Sprint(1000 + i)
						}
						s.Put(it.key, it, 0)
					}
					aside(func() { s.Commit("9", visitor()) })
					usable(t, w)
					for _, it := range slices.Collect(x.All()) {
						found := slices.Collect(x.By("word", fmt.Sprint(it.serial)))
						require.Equal(t, it.serial%2 == 0, slices.Contains(found, it))
					}
					if n > rebuildAbove && when != "on the end" {
						require.Equal(t, before, serialsOf(x), "nothing of it shows")
					}
				})
			}
		}
	}
}
