package conformance_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// slim removes parts of a pod in place that tests do not read.
func slim(obj any) (any, error) {
	if p, ok := obj.(*corev1.Pod); ok {
		p.Spec = corev1.PodSpec{}
	}
	return obj, nil
}

func podWithSpec(name, version string) *corev1.Pod {
	return kit.Pod(name, version, func(p *corev1.Pod) { p.Spec.NodeName = "heavy" })
}

// B84: the transform runs once, before the store and the handlers get the object. It may change the
// object in place.
func TestContract_B84_TheTransformComesFirst(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", podWithSpec("a", "1")))
		calls := 0
		require.NoError(t, w.transform(func(obj any) (any, error) { calls++; return slim(obj) }))
		rec, _ := w.addRecorder()
		w.start()
		w.Send(watch.Modified, podWithSpec("a", "11"))
		w.Send(watch.Added, podWithSpec("b", "12"))
		synctest.Wait()
		for _, obj := range append(rec.Objects(), w.get("default/a"), w.get("default/b")) {
			require.Empty(t, obj.(*corev1.Pod).Spec.NodeName)
		}
		require.Equal(t, 3, calls)
	})
}

// B85: deleted objects are transformed; tombstones and resyncs are not.
func TestContract_B85_WhatIsTransformed(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2")))
		var seen []string
		require.NoError(t, w.transform(func(obj any) (any, error) {
			seen = append(seen, kit.Text(obj))
			return obj, nil
		}))
		w.start()
		w.Send(watch.Deleted, kit.Pod("a", "11"))
		synctest.Wait()
		require.Equal(t, []string{"a@1", "b@2", "a@11"}, seen)
		w.Set("20")
		w.relist()
		require.Len(t, seen, 3)
		require.Empty(t, w.keys())
	})
}

// B86, D13: a transform that is not idempotent runs once.
func TestContract_B86_D13_ATransformThatIsNotIdempotent(t *testing.T) {
	differs(t, func(t T, r rig) {
		w := r.world(t, streamingScript("10"))
		require.NoError(t, w.transform(func(obj any) (any, error) {
			p := obj.(*corev1.Pod)
			p.Spec.NodeName += "x"
			return p, nil
		}))
		w.start()
		w.Feed().Initial("10", kit.Pod("a", "1"))
		synctest.Wait()
		require.Equal(t, "x", w.get("default/a").(*corev1.Pod).Spec.NodeName)
	})
}

// B90, B101, T5: nil is a valid transform. Setting a transform after the start is an error.
func TestContract_B90_B101_T5_SettingTransforms(t *testing.T) {
	clientgoAPI(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		require.NoError(t, w.transform(slim))
		require.NoError(t, w.transform(nil))
		w.start()
		require.Equal(t, []string{"default/a"}, w.keys())
		require.Error(t, w.transform(slim))
		require.Error(t, w.transform(nil))
		require.Error(t, w.onError(func(error) {}))
	})
	typedOnly(t, "only the typed API has this interface", func(t T, r rig) {
		w := r.world(t, kit.NewScript("10")).start()
		require.ErrorIs(t, w.transform(slim), informer.ErrRunning)
		w.stop()
		require.ErrorIs(t, w.transform(slim), informer.ErrStopped)
	})
}

// D28: a transform that ends its goroutine in a list, an event or a delete stops the informer. Stored
// objects stay readable.
func TestContract_D28_ATransformThatEndsItsGoroutine(t *testing.T) {
	differs(t, func(t T, r rig) {
		exit := kit.Label("poison", "exit")
		for _, when := range []string{"in a list", "in an event", "in a delete"} {
			s := kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("c", "3"))
			if when == "in a list" {
				s.Set("10", kit.Pod("a", "1"), kit.Pod("b", "2", exit), kit.Pod("c", "3"))
			}
			w := r.world(t, s)
			require.NoError(t, w.transform(failOnLabel))
			rec, _ := w.addRecorder()
			w.start()
			var recorded, keys []string
			if when != "in a list" {
				recorded, keys = []string{"initial a@1", "initial c@3"}, []string{"default/a", "default/c"}
				require.False(t, w.stopped())
			}
			switch when {
			case "in an event":
				w.Send(watch.Modified, kit.Pod("a", "11", exit))
			case "in a delete":
				w.Send(watch.Deleted, kit.Pod("a", "13", exit))
			}
			synctest.Wait()
			require.True(t, w.stopped(), when)
			require.ElementsMatch(t, recorded, rec.Take(), when)
			require.ElementsMatch(t, keys, w.keys(), when)
		}
	})
}

// D7, B41: a transform that clears versions and UIDs does not hide changes.
func TestContract_D7_B41_ATransformThatClearsVersions(t *testing.T) {
	differs(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")), settings{resync: time.Minute})
		require.NoError(t, w.transform(func(obj any) (any, error) {
			if p, ok := obj.(*corev1.Pod); ok {
				p.ResourceVersion, p.UID = "", ""
			}
			return obj, nil
		}))
		w.addRecorder()
		later, _ := w.addRecorder(10 * time.Minute)
		w.start()
		time.Sleep(time.Minute + halfAMinute)
		later.Take()
		w.Send(watch.Modified, kit.Pod("a", "11"))
		require.Equal(t, []string{"update a@ a@"}, later.Take())
		require.Equal(t, "11", w.storeVersion())
		w.Set("30", kit.Pod("a", "11"))
		w.relist()
		require.Empty(t, later.Take(), "D14 holds too")
	})
}

// D7, B87: an object that the transform renames is quarantined. The error has both keys.
func TestContract_D7_B87_ATransformThatRenames(t *testing.T) {
	differs(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2")))
		require.NoError(t, w.transform(func(obj any) (any, error) {
			p := obj.(*corev1.Pod)
			if p.Name == "a" {
				p.Name = "x-a"
			}
			return p, nil
		}))
		errs := w.collectErrors()
		rec, _ := w.addRecorder()
		w.start()
		require.Equal(t, []string{"default/b"}, w.keys())
		require.Len(t, errs(), 1)
		require.ErrorContains(t, errs()[0], "default/a")
		require.ErrorContains(t, errs()[0], "default/x-a")
		w.Send(watch.Deleted, kit.Pod("a", "11"))
		require.Equal(t, []string{"initial b@2"}, rec.Take())
	})
}

// D13, B84: the transform runs without a lock, and may call the informer.
func TestContract_D13_B84_TheTransformMayAsk(t *testing.T) {
	ours(t, "it holds its queue's lock, which no call of a test needs", func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		require.NoError(t, w.transform(func(obj any) (any, error) {
			w.keys()
			w.version()
			w.synced()
			w.addHandler(funcs{})
			return obj, w.addIndexers(nil)
		}))
		w.start()
		w.Send(watch.Modified, kit.Pod("a", "11"))
		synctest.Wait()
		require.Equal(t, "a@11", kit.Text(w.get("default/a")))
	})
}

// D25, B89: with client-go's interface a transform may return any type. A result without metadata keeps
// the object's key.
func TestContract_D25_B89_AnotherType(t *testing.T) {
	clientgoAPIDiffers(t, func(t T, r rig) {
		if r.packed { // a manager's informers hold objects of one type
			return
		}
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		require.NoError(t, w.transform(func(any) (any, error) { return "a string", nil }))
		w.collectErrors()
		rec, _ := w.addRecorder()
		w.start()
		require.Equal(t, []string{"initial a string"}, rec.Take())
		require.Equal(t, "a string", w.get("default/a"))
		w.Send(watch.Modified, kit.Pod("a", "11"))
		require.Equal(t, []string{"update a string a string"}, rec.Take())
	})
	clientgoAPI(t, func(t T, r rig) { // a result with metadata, also in client-go
		if r.packed {
			return
		}
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		require.NoError(t, w.transform(func(obj any) (any, error) {
			if p, ok := obj.(*corev1.Pod); ok {
				return &metav1.PartialObjectMetadata{ObjectMeta: p.ObjectMeta}, nil
			}
			return obj, nil
		}))
		rec, _ := w.addRecorder()
		w.start()
		require.IsType(t, &metav1.PartialObjectMetadata{}, rec.Objects()[0])
		require.IsType(t, &metav1.PartialObjectMetadata{}, w.get("default/a"))
	})
}

// D25, B91: a typed informer of pods holds pods. An object of another type is quarantined. The error
// names both types.
func TestContract_D25_B91_ATypedInformerHoldsItsType(t *testing.T) {
	typedOnly(t, "its typed handlers panic", func(t T, _ rig) {
		seen := &observer{}
		i := informer.New(reflector.FromListerWatcher(kit.NewScript("10", kit.Pod("a", "1"))), informer.Options[*corev1.Pod]{Observe: seen.observe})
		require.NoError(t, i.Shared().SetTransform(func(any) (any, error) { return "a string", nil }))
		background(t, func(ctx context.Context) { _ = i.Run(ctx) })
		require.NoError(t, i.WaitSynced(t.Context()))
		require.Zero(t, i.Indexer().Len())
		recorded := eventsOf[*informer.QuarantineError](seen)
		require.Len(t, recorded, 1)
		require.ErrorIs(t, recorded[0], informer.ErrType)
		require.ErrorContains(t, recorded[0], "*v1.Pod")
		require.ErrorContains(t, recorded[0], "string")
	})
}
