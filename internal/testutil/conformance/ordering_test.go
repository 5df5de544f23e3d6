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

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// B1, B2: one at a time, in the order of the watch, across objects.
func TestContract_B1_B2_EventsComeInOrder(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10"))
		var busy atomic.Int32
		rec := &kit.Recorder{}
		h := rec.Handler()
		w.handles(funcs{
			AddFunc: func(obj any, initial bool) {
				require.EqualValues(t, 1, busy.Add(1))
				h.AddFunc(obj, initial)
				busy.Add(-1)
			},
			UpdateFunc: func(old, obj any) { require.EqualValues(t, 1, busy.Add(1)); h.UpdateFunc(old, obj); busy.Add(-1) },
			DeleteFunc: func(obj any) { require.EqualValues(t, 1, busy.Add(1)); h.DeleteFunc(obj); busy.Add(-1) },
		})
		w.start()
		var want []string
		version := 10
		next := func() string { version++; return fmt.Sprint(version) }
		for range 20 {
			for _, name := range []string{"c", "a", "b"} {
				p := kit.Pod(name, next())
				w.Send(watch.Added, p)
				want = append(want, "add "+kit.Text(p))
				q := kit.Pod(name, next())
				w.Send(watch.Modified, q)
				want = append(want, "update "+kit.Text(p)+" "+kit.Text(q))
			}
			for _, name := range []string{"b", "a", "c"} {
				p := kit.Pod(name, next())
				w.Send(watch.Deleted, p)
				want = append(want, "delete "+kit.Text(p))
			}
		}
		require.Equal(t, want, rec.Take())
	})
}

// B3, B5, D1: a stuck handler holds up nobody, and is told each event later.
func TestContract_B3_B5_D1_NothingIsLostOrMerged(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		gate := make(chan struct{})
		stuck := &kit.Recorder{}
		w.handles(funcs{
			AddFunc:    func(obj any, initial bool) { <-gate; stuck.Handler().OnAdd(obj, initial) },
			UpdateFunc: stuck.Handler().OnUpdate,
		})
		quick, _ := w.records()
		w.start()
		want := []string{"initial a@1"}
		for n := range 3000 {
			w.Send(watch.Modified, kit.Pod("a", fmt.Sprint(n+11)))
			was := 1
			if n > 0 {
				was = n + 10
			}
			want = append(want, fmt.Sprintf("update a@%d a@%d", was, n+11))
		}
		require.Equal(t, want, quick.Take())
		require.Empty(t, stuck.Take())
		close(gate)
		require.Equal(t, want, stuck.Take())
	})
}

// B4: the store has made the change before it is told.
func TestContract_B4_TheStoreComesFirst(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		var seen []string
		w.handles(funcs{
			AddFunc:    func(any, bool) { seen = append(seen, kit.Text(w.get("default/a"))) },
			UpdateFunc: func(any, any) { seen = append(seen, kit.Text(w.get("default/a"))) },
			DeleteFunc: func(any) { seen = append(seen, kit.Text(w.get("default/a"))) },
		})
		w.start()
		w.Send(watch.Modified, kit.Pod("a", "11"))
		synctest.Wait()
		w.Send(watch.Deleted, kit.Pod("a", "12"))
		synctest.Wait()
		require.Equal(t, []string{"a@1", "a@11", "<nil>"}, seen)
	})
}

// B6: for client-go's interface, another object of the same name that a relist
// brings is an update.
func TestContract_B6_D2_AnotherObjectIsAnUpdate(t *testing.T) {
	face(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		rec, _ := w.records()
		w.start()
		rec.Take()
		w.Set("20", kit.Pod("a", "15", kit.UID("another")))
		w.relist()
		require.Equal(t, []string{"update a@1 a@15"}, rec.Take())
	})
}

// D2: natively it is a delete and an add.
func TestContract_D2_AnotherObjectIsADeleteAndAnAdd(t *testing.T) {
	differ(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		rec, _ := w.records()
		w.start()
		rec.Take()
		w.Set("20", kit.Pod("a", "15", kit.UID("another")))
		w.relist()
		require.Equal(t, []string{"delete tombstone default/a a@1", "add a@15"}, rec.Take())
	}, nativeRig)
}

// B7: a delete of what is not stored is told all the same, to those who
// use client-go's interface.
func TestContract_B7_ADeleteOfTheUnknownIsTold(t *testing.T) {
	face(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10"))
		rec, _ := w.records()
		w.start()
		w.Send(watch.Deleted, kit.Pod("a", "11"))
		require.Equal(t, []string{"delete a@11"}, rec.Take())
	})
}

// B8: what is told is what it is to the store.
func TestContract_B8_AddedAndModifiedAreWhatTheyAre(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		rec, _ := w.records()
		w.start()
		rec.Take()
		w.Send(watch.Added, kit.Pod("a", "11"))
		w.Send(watch.Modified, kit.Pod("b", "12"))
		require.Equal(t, []string{"update a@1 a@11", "add b@12"}, rec.Take())
	})
}

// B9, T7: a delete that was seen has the final state, as it came; one that a
// list implies is a tombstone, by value, with the last state known.
func TestContract_B9_T7_Deletes(t *testing.T) {
	face(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2")))
		require.NoError(t, w.transform(func(obj any) (any, error) {
			if p, ok := obj.(*corev1.Pod); ok {
				p.Annotations = map[string]string{"transformed": "yes"}
			}
			return obj, nil
		}))
		rec, _ := w.records()
		w.start()
		rec.Take()
		cached := w.get("default/b")
		final := kit.Pod("a", "11")
		w.Send(watch.Deleted, final)
		require.Same(t, final, rec.Objects()[0], "not the cached one")
		require.Equal(t, "yes", final.Annotations["transformed"])
		rec.Take()

		w.Set("20")
		w.relist()
		tombstone, ok := rec.Objects()[0].(cache.DeletedFinalStateUnknown)
		require.True(t, ok, "a value, not a pointer")
		require.Equal(t, "default/b", tombstone.Key)
		require.Same(t, cached, tombstone.Obj)
	})
}

// B9 natively: the final state, or the last one known and a mark.
func TestContract_B9_NativeDeletes(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2")))
		rec, _ := w.records()
		w.start()
		rec.Take()
		w.Send(watch.Deleted, kit.Pod("a", "11"))
		require.Equal(t, []string{"delete a@11"}, rec.Take())
		w.Set("20")
		w.relist()
		require.Equal(t, []string{"delete tombstone default/b b@2"}, rec.Take())
	})
}

// B10: bookmarks move the version and are told to nobody.
func TestContract_B10_BookmarksAreNotTold(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		rec, _ := w.records()
		w.start()
		rec.Take()
		w.Send(watch.Bookmark, kit.Bookmark("50", ""))
		require.Empty(t, rec.Take())
		require.Equal(t, "50", w.version())
		require.Equal(t, "50", w.storeVersion())
	})
}

// B11, T10: what is there at first is marked, also for a late handler; what a
// relist adds is not.
func TestContract_B11_T10_InitialAdds(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2")))
		early, _ := w.records()
		w.start()
		require.Equal(t, []string{"initial a@1", "initial b@2"}, early.Sorted())
		w.Send(watch.Added, kit.Pod("c", "11"))
		require.Equal(t, []string{"add c@11"}, early.Take())
		late, reg := w.records()
		require.Equal(t, []string{"initial a@1", "initial b@2", "initial c@11"}, late.Sorted())
		require.True(t, reg.synced())
		w.Set("20", kit.Pod("a", "1"), kit.Pod("b", "2"), kit.Pod("c", "11"), kit.Pod("d", "15"))
		w.relist()
		require.Contains(t, early.Take(), "add d@15")
		require.Contains(t, late.Take(), "add d@15")
	})
}

// B12: who is registered twice is told twice, and leaves one by one.
func TestContract_B12_TwoRegistrationsOfOneHandler(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		rec := &kit.Recorder{}
		first := w.handles(rec.Handler())
		second := w.handles(rec.Handler())
		w.start()
		require.Equal(t, []string{"initial a@1", "initial a@1"}, rec.Take())
		require.NoError(t, first.remove())
		synctest.Wait()
		w.Send(watch.Modified, kit.Pod("a", "11"))
		require.Equal(t, []string{"update a@1 a@11"}, rec.Take())
		require.NoError(t, second.remove())
		synctest.Wait()
		w.Send(watch.Modified, kit.Pod("a", "12"))
		require.Empty(t, rec.Take())
	})
}

// B2, T9: of a relist, deletions are told first, then the rest in the order of
// the list; and the store shows all of it before any of it is told.
func TestContract_B2_T9_ARelistShowsAtOnce(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("c", "2")))
		rec := &kit.Recorder{}
		var seen [][]string
		look := func() { seen = append(seen, w.keys()) }
		h := rec.Handler()
		w.start()
		w.handles(funcs{AddFunc: h.AddFunc, UpdateFunc: func(old, obj any) { look(); h.UpdateFunc(old, obj) }, DeleteFunc: func(obj any) { look(); h.DeleteFunc(obj) }})
		rec.Take()
		w.Set("20", kit.Pod("d", "12"), kit.Pod("c", "13"), kit.Pod("b", "14"))
		w.relist()
		require.Equal(t, []string{"delete tombstone default/a a@1", "add d@12", "update c@2 c@13", "add b@14"}, rec.Take())
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
		w := r.world(t, kit.NewScript("", kit.Pod("a", "")))
		rec, _ := w.records()
		w.start()
		rec.Take()
		w.Send(watch.Modified, kit.Pod("a", "", kit.Label("n", "1")))
		w.Send(watch.Modified, kit.Pod("a", "", kit.Label("n", "2")))
		require.Equal(t, []string{"update a@ a@", "update a@ a@"}, rec.Take())
		require.Equal(t, "2", w.get("default/a").(*corev1.Pod).Labels["n"])
	})
}
