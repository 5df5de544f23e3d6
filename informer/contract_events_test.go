package informer_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

// Handlers of client-go's API get client-go's events for lists, watches and relists (B1, B4, B7,
// B8, B9, B11, B12), initial adds if they are added late (T10), and tombstones by value (T7).
func TestContract_B1_B12_ClientgoHandlersGetEvents(t *testing.T) {
	eachClientgoInformer(t, func(t *testing.T, create constructor) {
		s := rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
		i := create(s, 0, nil)
		collectErrors(t, i)
		first, _ := addRecorder(t, i)
		second, _ := addRecorder(t, i)
		startClientgo(t, i)
		require.ElementsMatch(t, []string{"initial a@1", "initial b@2"}, first.Take(), "B11")
		require.Len(t, second.Take(), 2, "B12")

		s.Send(watch.Added, kit.Pod("a", "11"))
		s.Send(watch.Modified, kit.Pod("c", "12"))
		s.Send(watch.Deleted, kit.Pod("b", "13"))
		s.Send(watch.Deleted, kit.Pod("x", "14"))
		s.Send(watch.Bookmark, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "15"}})
		want := []string{"update a@1 a@11", "add c@12", "delete b@13", "delete x@14"}
		require.Equal(t, want, first.Take(), "B8, B8, B9, B7, B10")
		require.Equal(t, want, second.Take())
		require.Equal(t, "15", i.LastSyncResourceVersion())

		third := &kit.Recorder{}
		reg, err := i.AddEventHandler(third.Handler())
		require.NoError(t, err)
		require.ElementsMatch(t, []string{"initial a@11", "initial c@12"}, third.Take(), "T10")
		require.True(t, reg.HasSynced())

		s.Set("20", kit.Pod("c", "12"))
		s.Expire()
		first.Take()
		require.IsType(t, cache.DeletedFinalStateUnknown{}, third.Objects()[0], "T7")
		require.Equal(t, []string{"delete tombstone default/a a@11"}, third.Take())
	})
}

// D2: when another object has taken a name, handlers of client-go's API get an update, because
// controllers written for client-go expect it.
func TestContract_D2_ClientgoHandlersGetAnUpdate(t *testing.T) {
	eachClientgoInformer(t, func(t *testing.T, create constructor) {
		s := rig.NewScript("10", kit.Pod("a", "1"))
		i := create(s, 0, nil)
		r, _ := addRecorder(t, i)
		startClientgo(t, i)
		r.Take()
		s.Set("20", kit.Pod("a", "15", kit.UID("another")))
		s.Expire()
		require.Equal(t, []string{"update a@1 a@15"}, r.Take())
	})
}

// B5: one watch event is one event for each handler, even if the handler is slow.
func TestContract_B5_NothingIsMergedByDefault(t *testing.T) {
	eachClientgoInformer(t, func(t *testing.T, create constructor) {
		s := rig.NewScript("10", kit.Pod("a", "1"))
		i := create(s, 0, nil)
		gate := make(chan struct{})
		r := &kit.Recorder{}
		_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(old, obj any) {
			<-gate
			r.Add(kit.Text(old)+" "+kit.Text(obj), obj)
		}})
		require.NoError(t, err)
		quick, _ := addRecorder(t, i)
		startClientgo(t, i)
		quick.Take()
		var want []string
		for n := range 300 {
			s.Send(watch.Modified, kit.Pod("a", fmt.Sprint(n+11)))
			if n > 0 {
				want = append(want, fmt.Sprintf("a@%d a@%d", n+10, n+11))
			}
		}
		require.Len(t, quick.Take(), 300, "B3: a slow handler does not block others")
		close(gate)
		require.Equal(t, append([]string{"a@1 a@11"}, want...), r.Take())
	})
}

// T9, B4: after a relist, the store shows the whole list before the first callback.
func TestContract_T9_TheClientgoStoreIsReplacedBeforeCallbacks(t *testing.T) {
	eachClientgoInformer(t, func(t *testing.T, create constructor) {
		s := rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
		i := create(s, 0, nil)
		var seen []string
		_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: func(any) {
			seen = append(seen, i.GetStore().ListKeys()...)
		}})
		require.NoError(t, err)
		startClientgo(t, i)
		s.Set("20", kit.Pod("b", "2"), kit.Pod("c", "12"))
		s.Expire()
		synctest.Wait()
		require.ElementsMatch(t, []string{"default/b", "default/c"}, seen)
	})
}

// The watch error handler gets failed requests (D10), quarantined objects by name (D3), and a
// reflector whose methods it may call (T4).
func TestContract_D3_T4_TheErrorHandlerHearsIt(t *testing.T) {
	eachClientgoInformer(t, func(t *testing.T, create constructor) {
		s := rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2", rig.Sick))
		s.Fail(errors.New("no list today"))
		i := create(s, 0, nil)
		require.NoError(t, i.SetTransform(func(obj any) (any, error) {
			if p, ok := obj.(*corev1.Pod); ok {
				return rig.FailByLabel(p)
			}
			return obj, nil
		}))
		var errs []error
		require.NoError(t, i.SetWatchErrorHandler(func(r *cache.Reflector, err error) {
			require.NotNil(t, r)
			require.Empty(t, r.LastSyncResourceVersion())
			errs = append(errs, err)
		}))
		r, _ := addRecorder(t, i)
		startClientgo(t, i)
		require.Len(t, errs, 1)
		require.ErrorContains(t, errs[0], "no list today")
		s.Fail(nil)
		time.Sleep(time.Minute)
		require.Equal(t, []string{"initial a@1"}, r.Take())
		require.Len(t, errs, 2)
		require.ErrorIs(t, errs[1], rig.ErrPoison)
		require.ErrorContains(t, errs[1], "default/b")

		s.Send(watch.Deleted, kit.Pod("a", "11", kit.Label("poison", "panic")))
		require.Equal(t, []string{"delete tombstone default/a a@1"}, r.Take())
		require.Len(t, errs, 3)
		s.Send(watch.Deleted, kit.Pod("z", "12", rig.Sick))
		require.Empty(t, r.Take(), "nothing is left of z, and it was not stored")
		s.Expire()
		r.Take()
		require.Len(t, errs, 6, "the errors include the 410 of the stream, and b: %v", errs)
		require.Error(t, i.SetWatchErrorHandler(func(*cache.Reflector, error) {}), "after start")
		require.Error(t, i.SetTransform(nil), "B90")
	})
}

func TestContract_T4_TheDefaultErrorHandlerDoesNotCrash(t *testing.T) {
	eachClientgoInformer(t, func(t *testing.T, create constructor) {
		s := rig.NewScript("10")
		s.Fail(errors.New("refused on purpose"))
		i := create(s, 0, nil)
		recorded := 0
		require.NoError(t, i.SetWatchErrorHandlerWithContext(func(ctx context.Context, r *cache.Reflector, err error) {
			recorded++
			cache.DefaultWatchErrorHandler(ctx, r, err)
		}))
		startClientgo(t, i)
		require.Equal(t, 1, recorded)
	})
}

// T5: SetTransform(nil) succeeds. D25: an informer of any type takes every result of the
// transform, and an informer of pods quarantines results of another type.
func TestContract_T5_D25_Transforms(t *testing.T) {
	eachClientgoInformer(t, func(t *testing.T, create constructor) {
		i := create(rig.NewScript("10", kit.Pod("a", "1")), 0, nil)
		require.NoError(t, i.SetTransform(nil), "controller-runtime always calls it")
		startClientgo(t, i)
		require.Equal(t, []string{"default/a"}, i.GetStore().ListKeys())
	})
	another := func(any) (any, error) { return "a string", nil }
	t.Run("any takes every result", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := rig.NewScript("10", kit.Pod("a", "1"))
			i := clientgoInformers["any"](s, 0, nil)
			collectErrors(t, i)
			require.NoError(t, i.SetTransform(another))
			r, _ := addRecorder(t, i)
			startClientgo(t, i)
			require.Equal(t, []string{"initial a string"}, r.Take())
			obj, ok, err := i.GetStore().GetByKey("default/a")
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, "a string", obj, "under the key of before")
			require.Equal(t, "10", i.LastSyncResourceVersion(), "B89")
			s.Send(watch.Deleted, kit.Pod("a", "11"))
			require.Equal(t, []string{"delete a string"}, r.Take())
			s.Send(watch.Added, kit.Pod("b", "12"))
			r.Take()
			s.Set("20")
			s.Expire()
			require.Equal(t, []string{"delete tombstone default/b a string"}, r.Take())
		})
	})
	t.Run("pods quarantines it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			i := clientgoInformers["pods"](rig.NewScript("10", kit.Pod("a", "1")), 0, nil)
			errs := collectErrors(t, i)
			require.NoError(t, i.SetTransform(another))
			startClientgo(t, i)
			require.True(t, i.HasSynced())
			require.Len(t, *errs, 1)
			require.ErrorIs(t, (*errs)[0], informer.ErrType)
			require.ErrorContains(t, (*errs)[0], "*v1.Pod")
			require.ErrorContains(t, (*errs)[0], "string")
		})
	})
}
