package conformance_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/verify"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// countDecoding runs a test on our two rigs with packed objects, and keeps none of them decoded. Verify
// mode is off, because it decodes all objects.
func countDecoding(t *testing.T, test func(t *testing.T, r rig)) {
	on := verify.On
	verify.On = false
	t.Cleanup(func() { verify.On = on })
	for _, r := range []rig{sharedRig, typedRig} {
		r.packed = true
		t.Run(r.title(), func(t *testing.T) { bubble(t, func(t *testing.T) { test(t, r) }) })
	}
}

// decoding returns a function that waits until everything is idle, and compares the number of objects
// that were decoded since its last call.
func (w *world) decoding() (decoded func(want int, of string)) {
	var before uint64
	return func(want int, of string) {
		w.t.Helper()
		synctest.Wait()
		now := w.storageStatus().Decodes
		require.EqualValues(w.t, want, now-before, of)
		before = now
	}
}

var byApp = settings{resync: time.Hour, indexes: cache.Indexers{"app": func(obj any) ([]string, error) {
	return []string{obj.(*corev1.Pod).Labels["app"]}, nil
}}}

// Changes and relists decode only objects that index functions read.
func TestPackedApplyingDecodesForIndexes(t *testing.T) {
	countDecoding(t, func(t *testing.T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"), kit.Pod("c", "3")), byApp).start()
		decoded := w.decoding()
		decoded(3, "the first list")
		for i := range 20 {
			w.Send(watch.Modified, kit.Pod("a", fmt.Sprint(11+i)))
		}
		w.Send(watch.Added, kit.Pod("d", "40"))
		w.Send(watch.Deleted, kit.Pod("b", "41"))
		decoded(21, "events")
		w.Set("50", kit.Pod("a", "30"), kit.Pod("c", "3"), kit.Pod("d", "40"))
		w.relist()
		decoded(0, "a list of stored objects")
		w.Set("60", kit.Pod("a", "51"), kit.Pod("c", "3"), kit.Pod("e", "52"))
		w.relist()
		decoded(2, "a list of other objects")
		require.Len(t, w.keys(), 3)
		found, err := w.by("app", "")
		require.NoError(t, err)
		require.Len(t, found, 3)
		decoded(0, "keys")
		require.Equal(t, "a@51", kit.Text(w.get("default/a")))
		decoded(1, "a look-up")
	})
}

// Each object is decoded once per handler that gets it.
func TestContract_D40_HandlersDecodeWhatTheyGet(t *testing.T) {
	countDecoding(t, func(t *testing.T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2")), settings{resync: time.Hour})
		decoded := w.decoding()
		rec, _ := w.addRecorder()
		w.start()
		require.Len(t, rec.Take(), 2)
		decoded(2, "the initial state")
		w.Send(watch.Modified, kit.Pod("a", "11"))
		decoded(2, "an update")
		w.Send(watch.Added, kit.Pod("c", "12"))
		decoded(1, "an add")
		w.Send(watch.Deleted, kit.Pod("c", "13"))
		decoded(1, "a delete")
		rec.Take()
		w.Set("20", kit.Pod("b", "2"))
		w.relist()
		require.Equal(t, []string{"delete tombstone default/a a@11"}, rec.Take())
		decoded(1, "a lost delete")
		w.Send(watch.Modified, kit.Pod("b", "21", func(p *corev1.Pod) { p.UID = "another" }))
		require.NotEmpty(t, rec.Take())
		decoded(2, "a re-created object")
		time.Sleep(time.Hour)
		require.Equal(t, []string{"update b@21 b@21"}, rec.Take())
		decoded(1, "a resync, in which old and new are the same object")
		late, _ := w.addRecorder()
		require.Equal(t, []string{"initial b@21"}, late.Take())
		decoded(1, "a late handler")
		w.Send(watch.Modified, kit.Pod("b", "22"))
		decoded(4, "two handlers")
	})
}

// Events of a blocked handler stay encoded. Merged events are decoded as one event.
func TestContract_D40_BacklogsAreNotDecoded(t *testing.T) {
	for _, delivery := range []informer.Delivery{informer.Every, informer.Latest} {
		countDecoding(t, func(t *testing.T, r rig) {
			if r.name != typedRig.name {
				return
			}
			w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
			decoded := w.decoding()
			gate, last := make(chan struct{}), ""
			reg, err := w.typed().informer.Handle(informer.Funcs[*corev1.Pod]{
				Added:   func(*corev1.Pod) { <-gate },
				Updated: func(_, p *corev1.Pod) { last = p.ResourceVersion },
			}, informer.HandlerOptions{Delivery: delivery})
			require.NoError(t, err)
			w.start()
			decoded(1, "the initial state")
			for i := range 2000 {
				w.Send(watch.Modified, kit.Pod("a", fmt.Sprint(11+i)))
			}
			synctest.Wait()
			calls := 2000
			if delivery == informer.Every {
				require.Equal(t, calls+1, reg.Backlog(), "including the add in progress")
			} else {
				require.Less(t, reg.Backlog(), calls)
				calls = 1
			}
			decoded(0, "what waits")
			close(gate)
			decoded(2*calls, "the delivered events")
			require.Equal(t, "2010", last)
		})
	}
}

// Nothing is decoded for a handler that has no function for the event.
func TestContract_D40_NothingIsDecodedWithoutHandlers(t *testing.T) {
	countDecoding(t, func(t *testing.T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		decoded := w.decoding()
		adds := 0
		if r.name == typedRig.name {
			_, err := w.typed().informer.Handle(informer.Funcs[*corev1.Pod]{Added: func(*corev1.Pod) { adds++ }}, informer.HandlerOptions{})
			require.NoError(t, err)
		} else {
			_, err := w.shared().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { adds++ }})
			require.NoError(t, err)
		}
		w.start()
		decoded(1, "the initial state")
		w.Send(watch.Modified, kit.Pod("a", "11"))
		w.Send(watch.Deleted, kit.Pod("a", "12"))
		decoded(0, "an update and a delete")
		require.Equal(t, 1, adds)
	})
}

// A read returns the same object while it is kept decoded, and otherwise another copy. If a program
// writes into an object, readers see it as long as the object is kept, but the stored object is not
// affected.
func TestContract_D40_ReadsOfPackedObjectsAreEqual(t *testing.T) {
	for _, r := range []rig{sharedRig, typedRig} {
		for _, budget := range []int64{0, 64 << 10} {
			r.packed, r.budget = true, budget
			t.Run(fmt.Sprint(r.title(), "-", budget), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"))).start()
					first := w.get("default/a").(*corev1.Pod)
					require.Equal(t, kit.Pod("a", "1"), first)
					second := w.get("default/a").(*corev1.Pod)
					require.Equal(t, first, second)
					require.Equal(t, budget > 0, first == second, "the same object while it is kept")
					first.Spec.NodeName = "mine"
					require.Equal(t, budget > 0, w.get("default/a").(*corev1.Pod).Spec.NodeName == "mine")
					for n := range 300 {
						w.Send(watch.Added, kit.Pod(fmt.Sprint("other-", n), fmt.Sprint(11+n)))
					}
					synctest.Wait()
					require.Equal(t, kit.Pod("a", "1"), w.get("default/a"), "other objects have taken its place in the budget")
					require.Zero(t, w.storageStatus().Pinned)
				})
			})
		}
	}
}

// In a resync of a packed object, old and new are the same object for each handler.
func TestContract_D40_AResyncOfAPackedObject(t *testing.T) {
	countDecoding(t, func(t *testing.T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")), settings{resync: time.Hour})
		var resyncs atomic.Int64
		for range 2 {
			w.addHandler(funcs{UpdateFunc: func(old, now any) {
				resyncs.Add(1)
				require.Same(t, old, now)
			}})
		}
		w.start()
		time.Sleep(time.Hour)
		synctest.Wait()
		require.EqualValues(t, 2, resyncs.Load())
	})
}

// If a transform's result changes when it is encoded and decoded again, the informer stores it unpacked.
func TestContract_D41_WhatDoesNotSurvivePackingIsPinned(t *testing.T) {
	countDecoding(t, func(t *testing.T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2")))
		errs := w.collectErrors()
		require.NoError(t, w.transform(func(obj any) (any, error) {
			if p := obj.(*corev1.Pod); p.Name == "a" {
				p.Spec.Tolerations = []corev1.Toleration{}
			}
			return obj, nil
		}))
		w.start()
		require.Same(t, w.get("default/a"), w.get("default/a"))
		require.NotSame(t, w.get("default/b"), w.get("default/b"))
		w.Send(watch.Modified, kit.Pod("a", "11"))
		synctest.Wait()
		require.Equal(t, 1, w.storageStatus().Pinned)
		a := w.get("default/a").(*corev1.Pod)
		require.Equal(t, "11", a.ResourceVersion)
		require.NotNil(t, a.Spec.Tolerations)
		if r.name == typedRig.name { // only observers get this event
			var e *informer.StorageError
			require.Len(t, errs(), 1, "each cause is reported once")
			require.ErrorAs(t, errs()[0], &e)
			require.Equal(t, "default/a", e.Key.String())
			require.ErrorContains(t, e, ".Spec.Tolerations")
		}
	})
}

// Objects that users write are stored unpacked, and users read the same objects.
func TestContract_D41_WhatAProgramWritesIsPinned(t *testing.T) {
	countDecoding(t, func(t *testing.T, r rig) {
		if r.name != sharedRig.name {
			return
		}
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2")), byApp).start()
		decoded := w.decoding()
		decoded(2, "the first list")
		x := w.shared().GetIndexer()
		mine := kit.Pod("c", "7")
		require.NoError(t, x.Replace([]any{kit.Pod("a", "5"), kit.Pod("b", "6")}, "10"))
		require.NoError(t, x.Add(mine))
		require.NoError(t, x.Delete(kit.Pod("a", "9")))
		require.Equal(t, 2, w.storageStatus().Pinned)
		all := x.List()
		require.Len(t, all, 2)
		require.Contains(t, all, mine)
		found, err := x.ByIndex("app", "")
		require.NoError(t, err)
		require.Len(t, found, 2)
		obj, exists, err := x.Get(kit.Pod("c", ""))
		require.NoError(t, err)
		require.True(t, exists)
		require.Same(t, mine, obj)
		decoded(0, "unpacked objects")
	})
}
