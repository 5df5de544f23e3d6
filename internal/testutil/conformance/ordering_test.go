package conformance_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// B1, B2: one at a time, in the order of the watch, across objects.
func TestContract_B1_B2_EventsComeInOrder(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, newScript("10"))
		var busy atomic.Int32
		rec := &recorder{}
		h := rec.handler()
		w.handles(told{
			add:    func(obj any, initial bool) { require.EqualValues(t, 1, busy.Add(1)); h.add(obj, initial); busy.Add(-1) },
			update: func(old, obj any) { require.EqualValues(t, 1, busy.Add(1)); h.update(old, obj); busy.Add(-1) },
			delete: func(obj any) { require.EqualValues(t, 1, busy.Add(1)); h.delete(obj); busy.Add(-1) },
		})
		w.start()
		var want []string
		version := 10
		next := func() string { version++; return fmt.Sprint(version) }
		for range 20 {
			for _, name := range []string{"c", "a", "b"} {
				p := pod(name, next())
				w.send(watch.Added, p)
				want = append(want, "add "+spoken(p))
				q := pod(name, next())
				w.send(watch.Modified, q)
				want = append(want, "update "+spoken(p)+" "+spoken(q))
			}
			for _, name := range []string{"b", "a", "c"} {
				p := pod(name, next())
				w.send(watch.Deleted, p)
				want = append(want, "delete "+spoken(p))
			}
		}
		require.Equal(t, want, rec.take())
	})
}

// B3, B5, D1: a stuck handler holds up nobody, and is told each event later.
func TestContract_B3_B5_D1_NothingIsLostOrMerged(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, newScript("10", pod("a", "1")))
		gate := make(chan struct{})
		stuck := &recorder{}
		w.handles(told{
			add:    func(obj any, initial bool) { <-gate; stuck.handler().OnAdd(obj, initial) },
			update: stuck.handler().OnUpdate,
		})
		quick, _ := w.records()
		w.start()
		want := []string{"initial a@1"}
		for n := range 3000 {
			w.send(watch.Modified, pod("a", fmt.Sprint(n+11)))
			was := 1
			if n > 0 {
				was = n + 10
			}
			want = append(want, fmt.Sprintf("update a@%d a@%d", was, n+11))
		}
		require.Equal(t, want, quick.take())
		require.Empty(t, stuck.take())
		close(gate)
		require.Equal(t, want, stuck.take())
	})
}

// B4: the store has made the change before it is told.
func TestContract_B4_TheStoreComesFirst(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, newScript("10", pod("a", "1")))
		var seen []string
		w.handles(told{
			add:    func(any, bool) { seen = append(seen, spoken(w.get("default/a"))) },
			update: func(any, any) { seen = append(seen, spoken(w.get("default/a"))) },
			delete: func(any) { seen = append(seen, spoken(w.get("default/a"))) },
		})
		w.start()
		w.send(watch.Modified, pod("a", "11"))
		synctest.Wait()
		w.send(watch.Deleted, pod("a", "12"))
		synctest.Wait()
		require.Equal(t, []string{"a@1", "a@11", "<nil>"}, seen)
	})
}

// B6: for client-go's interface, another object of the same name that a relist
// brings is an update.
func TestContract_B6_D2_AnotherObjectIsAnUpdate(t *testing.T) {
	face(t, func(t T, r rig) {
		w := r.world(t, newScript("10", pod("a", "1")))
		rec, _ := w.records()
		w.start()
		rec.take()
		w.set("20", pod("a", "15", uid("another")))
		w.relist()
		require.Equal(t, []string{"update a@1 a@15"}, rec.take())
	})
}

// D2: natively it is a delete and an add.
func TestContract_D2_AnotherObjectIsADeleteAndAnAdd(t *testing.T) {
	differ(t, func(t T, r rig) {
		w := r.world(t, newScript("10", pod("a", "1")))
		rec, _ := w.records()
		w.start()
		rec.take()
		w.set("20", pod("a", "15", uid("another")))
		w.relist()
		require.Equal(t, []string{"delete tombstone default/a a@1", "add a@15"}, rec.take())
	}, nativeRig)
}

// B7: a delete of what is not stored is told all the same, to those who
// use client-go's interface.
func TestContract_B7_ADeleteOfTheUnknownIsTold(t *testing.T) {
	face(t, func(t T, r rig) {
		w := r.world(t, newScript("10"))
		rec, _ := w.records()
		w.start()
		w.send(watch.Deleted, pod("a", "11"))
		require.Equal(t, []string{"delete a@11"}, rec.take())
	})
}

// B8: what is told is what it is to the store.
func TestContract_B8_AddedAndModifiedAreWhatTheyAre(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, newScript("10", pod("a", "1")))
		rec, _ := w.records()
		w.start()
		rec.take()
		w.send(watch.Added, pod("a", "11"))
		w.send(watch.Modified, pod("b", "12"))
		require.Equal(t, []string{"update a@1 a@11", "add b@12"}, rec.take())
	})
}

// B9, T7: a delete that was seen has the final state, as it came; one that a
// list implies is a tombstone, by value, with the last state known.
func TestContract_B9_T7_Deletes(t *testing.T) {
	face(t, func(t T, r rig) {
		w := r.world(t, newScript("10", pod("a", "1"), pod("b", "2")))
		require.NoError(t, w.transform(func(obj any) (any, error) {
			if p, ok := obj.(*corev1.Pod); ok {
				p.Annotations = map[string]string{"transformed": "yes"}
			}
			return obj, nil
		}))
		rec, _ := w.records()
		w.start()
		rec.take()
		cached := w.get("default/b")
		final := pod("a", "11")
		w.send(watch.Deleted, final)
		require.Same(t, final, rec.objects()[0], "not the cached one")
		require.Equal(t, "yes", final.Annotations["transformed"])
		rec.take()

		w.set("20")
		w.relist()
		tombstone, ok := rec.objects()[0].(cache.DeletedFinalStateUnknown)
		require.True(t, ok, "a value, not a pointer")
		require.Equal(t, "default/b", tombstone.Key)
		require.Same(t, cached, tombstone.Obj)
	})
}

// B9 natively: the final state, or the last one known and a mark.
func TestContract_B9_NativeDeletes(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, newScript("10", pod("a", "1"), pod("b", "2")))
		rec, _ := w.records()
		w.start()
		rec.take()
		w.send(watch.Deleted, pod("a", "11"))
		require.Equal(t, []string{"delete a@11"}, rec.take())
		w.set("20")
		w.relist()
		require.Equal(t, []string{"delete tombstone default/b b@2"}, rec.take())
	})
}

// B10: bookmarks move the version and are told to nobody.
func TestContract_B10_BookmarksAreNotTold(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, newScript("10", pod("a", "1")))
		rec, _ := w.records()
		w.start()
		rec.take()
		w.send(watch.Bookmark, bookmark("50", ""))
		require.Empty(t, rec.take())
		require.Equal(t, "50", w.version())
		require.Equal(t, "50", w.storeVersion())
	})
}

// B11, T10: what is there at first is marked, also for a late handler; what a
// relist adds is not.
func TestContract_B11_T10_InitialAdds(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, newScript("10", pod("a", "1"), pod("b", "2")))
		early, _ := w.records()
		w.start()
		require.Equal(t, []string{"initial a@1", "initial b@2"}, early.sorted())
		w.send(watch.Added, pod("c", "11"))
		require.Equal(t, []string{"add c@11"}, early.take())
		late, reg := w.records()
		require.Equal(t, []string{"initial a@1", "initial b@2", "initial c@11"}, late.sorted())
		require.True(t, reg.synced())
		w.set("20", pod("a", "1"), pod("b", "2"), pod("c", "11"), pod("d", "15"))
		w.relist()
		require.Contains(t, early.take(), "add d@15")
		require.Contains(t, late.take(), "add d@15")
	})
}

// B12: who is registered twice is told twice, and leaves one by one.
func TestContract_B12_TwoRegistrationsOfOneHandler(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, newScript("10", pod("a", "1")))
		rec := &recorder{}
		first := w.handles(rec.handler())
		second := w.handles(rec.handler())
		w.start()
		require.Equal(t, []string{"initial a@1", "initial a@1"}, rec.take())
		require.NoError(t, first.remove())
		synctest.Wait()
		w.send(watch.Modified, pod("a", "11"))
		require.Equal(t, []string{"update a@1 a@11"}, rec.take())
		require.NoError(t, second.remove())
		synctest.Wait()
		w.send(watch.Modified, pod("a", "12"))
		require.Empty(t, rec.take())
	})
}

// B2, T9: of a relist, deletions are told first, then the rest in the order of
// the list; and the store shows all of it before any of it is told.
func TestContract_B2_T9_ARelistShowsAtOnce(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, newScript("10", pod("a", "1"), pod("c", "2")))
		rec := &recorder{}
		var seen [][]string
		look := func() { seen = append(seen, w.keys()) }
		h := rec.handler()
		w.start()
		w.handles(told{add: h.add, update: func(old, obj any) { look(); h.update(old, obj) }, delete: func(obj any) { look(); h.delete(obj) }})
		rec.take()
		w.set("20", pod("d", "12"), pod("c", "13"), pod("b", "14"))
		w.relist()
		require.Equal(t, []string{"delete tombstone default/a a@1", "add d@12", "update c@2 c@13", "add b@14"}, rec.take())
		for _, keys := range seen {
			require.Equal(t, []string{"default/b", "default/c", "default/d"}, keys)
		}
		require.Len(t, seen, 2)
	})
}

// T8: a watch event is stored and told whatever its version, as fake clientsets
// need it, also once resyncs have begun.
func TestContract_T8_EventsOfOneVersionAreTold(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, newScript("", pod("a", "")))
		rec, _ := w.records()
		w.start()
		rec.take()
		w.send(watch.Modified, pod("a", "", label("n", "1")))
		w.send(watch.Modified, pod("a", "", label("n", "2")))
		require.Equal(t, []string{"update a@ a@", "update a@ a@"}, rec.take())
		require.Equal(t, "2", w.get("default/a").(*corev1.Pod).Labels["n"])
	})
}
