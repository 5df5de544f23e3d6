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

// B1, B2: events are delivered one at a time, in the order of the watch, across all objects.
func TestContract_B1_B2_EventsComeInOrder(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10"))
		var busy atomic.Int32
		rec := &kit.Recorder{}
		h := rec.Handler()
		w.addHandler(funcs{
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

// B3, B5, D1: a blocked handler does not delay other handlers, and gets each event later.
func TestContract_B3_B5_D1_NothingIsLostOrMerged(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		gate := make(chan struct{})
		stuck := &kit.Recorder{}
		w.addHandler(funcs{
			AddFunc:    func(obj any, initial bool) { <-gate; stuck.Handler().OnAdd(obj, initial) },
			UpdateFunc: stuck.Handler().OnUpdate,
		})
		quick, _ := w.addRecorder()
		w.start()
		want := []string{"initial a@1"}
		for n := range 1400 { // more than a backlog of 1,024 and a segment of the log
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

// B4: the store has a change before handlers get its event.
func TestContract_B4_TheStoreComesFirst(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		var seen []string
		w.addHandler(funcs{
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

// B6: with client-go's interface, a relist that finds another object with the same name delivers an
// update.
func TestContract_B6_D2_AnotherObjectIsAnUpdate(t *testing.T) {
	clientgoAPI(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		rec, _ := w.addRecorder()
		w.start()
		rec.Take()
		w.Set("20", kit.Pod("a", "15", kit.UID("another")))
		w.relist()
		require.Equal(t, []string{"update a@1 a@15"}, rec.Take())
	})
}

// D2: in the typed API, another object with the same name is delivered as a delete and an add.
func TestContract_D2_AnotherObjectIsADeleteAndAnAdd(t *testing.T) {
	differ(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		rec, _ := w.addRecorder()
		w.start()
		rec.Take()
		w.Set("20", kit.Pod("a", "15", kit.UID("another")))
		w.relist()
		require.Equal(t, []string{"delete tombstone default/a a@1", "add a@15"}, rec.Take())
	}, typedRig)
}

// B7: a delete of an unknown object is delivered.
func TestContract_B7_ADeleteOfAnUnknownObjectIsDelivered(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10"))
		rec, _ := w.addRecorder()
		w.start()
		w.Send(watch.Deleted, kit.Pod("a", "11"))
		require.Equal(t, []string{"delete a@11"}, rec.Take())
	})
}

// B8: whether an event is an add or an update depends on the store.
func TestContract_B8_AddedAndModifiedAreWhatTheyAre(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		rec, _ := w.addRecorder()
		w.start()
		rec.Take()
		w.Send(watch.Added, kit.Pod("a", "11"))
		w.Send(watch.Modified, kit.Pod("b", "12"))
		require.Equal(t, []string{"update a@1 a@11", "add b@12"}, rec.Take())
	})
}

// B9, T7: a delete seen by the watch has the final state, as it was sent. A delete found by a list has a
// tombstone, by value, with the last known state.
func TestContract_B9_T7_Deletes(t *testing.T) {
	clientgoAPI(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2")))
		require.NoError(t, w.transform(func(obj any) (any, error) {
			if p, ok := obj.(*corev1.Pod); ok {
				p.Annotations = map[string]string{"transformed": "yes"}
			}
			return obj, nil
		}))
		rec, _ := w.addRecorder()
		w.start()
		rec.Take()
		cached := w.get("default/b")
		final := kit.Pod("a", "11")
		w.Send(watch.Deleted, final)
		r.requireSame(t, final, rec.Objects()[0], "not the stored object")
		require.Equal(t, "yes", final.Annotations["transformed"])
		rec.Take()

		w.Set("20")
		w.relist()
		tombstone, ok := rec.Objects()[0].(cache.DeletedFinalStateUnknown)
		require.True(t, ok, "a value, not a pointer")
		require.Equal(t, "default/b", tombstone.Key)
		r.requireSame(t, cached, tombstone.Obj)
	})
}

// B9 in the typed API: a delete has the final state, or the last known state and Lost.
func TestContract_B9_TypedDeletes(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2")))
		rec, _ := w.addRecorder()
		w.start()
		rec.Take()
		w.Send(watch.Deleted, kit.Pod("a", "11"))
		require.Equal(t, []string{"delete a@11"}, rec.Take())
		w.Set("20")
		w.relist()
		require.Equal(t, []string{"delete tombstone default/b b@2"}, rec.Take())
	})
}

// B10: bookmarks advance the version and are not delivered.
func TestContract_B10_BookmarksAreNotDelivered(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		rec, _ := w.addRecorder()
		w.start()
		rec.Take()
		w.Send(watch.Bookmark, kit.Bookmark("50", ""))
		require.Empty(t, rec.Take())
		require.Equal(t, "50", w.version())
		require.Equal(t, "50", w.storeVersion())
	})
}

// B11, T10: initial adds are marked, including those of late handlers. A relist's adds are not.
func TestContract_B11_T10_InitialAdds(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2")))
		early, _ := w.addRecorder()
		w.start()
		require.Equal(t, []string{"initial a@1", "initial b@2"}, early.Sorted())
		w.Send(watch.Added, kit.Pod("c", "11"))
		require.Equal(t, []string{"add c@11"}, early.Take())
		late, reg := w.addRecorder()
		require.Equal(t, []string{"initial a@1", "initial b@2", "initial c@11"}, late.Sorted())
		require.True(t, reg.synced())
		w.Set("20", kit.Pod("a", "1"), kit.Pod("b", "2"), kit.Pod("c", "11"), kit.Pod("d", "15"))
		w.relist()
		require.Contains(t, early.Take(), "add d@15")
		require.Contains(t, late.Take(), "add d@15")
	})
}

// B12: a handler that was added twice gets each event twice. Each of its registrations is removed
// separately.
func TestContract_B12_TwoRegistrationsOfOneHandler(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		rec := &kit.Recorder{}
		first := w.addHandler(rec.Handler())
		second := w.addHandler(rec.Handler())
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

// B2, T9: a relist delivers deletions first, then the rest in the order of the list. The store shows all
// changes before the first event.
func TestContract_B2_T9_ARelistShowsAtOnce(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("c", "2")))
		rec := &kit.Recorder{}
		var seen [][]string
		look := func() { seen = append(seen, w.keys()) }
		h := rec.Handler()
		w.start()
		w.addHandler(funcs{AddFunc: h.AddFunc, UpdateFunc: func(old, obj any) { look(); h.UpdateFunc(old, obj) }, DeleteFunc: func(obj any) { look(); h.DeleteFunc(obj) }})
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

// T8: a watch event is stored and delivered regardless of its version, because fake clientsets need
// this. This also holds after resyncs have begun.
func TestContract_T8_EventsOfOneVersionAreDelivered(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("", kit.Pod("a", "")))
		rec, _ := w.addRecorder()
		w.start()
		rec.Take()
		w.Send(watch.Modified, kit.Pod("a", "", kit.Label("n", "1")))
		w.Send(watch.Modified, kit.Pod("a", "", kit.Label("n", "2")))
		require.Equal(t, []string{"update a@ a@", "update a@ a@"}, rec.Take())
		require.Equal(t, "2", w.get("default/a").(*corev1.Pod).Labels["n"])
	})
}
