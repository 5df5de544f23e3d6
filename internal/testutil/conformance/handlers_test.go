package conformance_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// B78, T10: a late handler gets the stored objects, then all later events. Nothing is missing or
// duplicated.
func TestContract_B78_T10_JoiningLate(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"))).start()
		gate := make(chan struct{})
		rec := &kit.Recorder{}
		h := rec.Handler()
		reg := w.addHandler(funcs{AddFunc: func(obj any, initial bool) { <-gate; h.AddFunc(obj, initial) }, UpdateFunc: h.UpdateFunc})
		w.Send(watch.Modified, kit.Pod("a", "11"))
		w.Send(watch.Added, kit.Pod("b", "12"))
		require.Empty(t, rec.Take())
		require.False(t, reg.synced(), "B80: not delivered yet")
		close(gate)
		require.Equal(t, []string{"initial a@1", "update a@1 a@11", "add b@12"}, rec.Take())
		require.True(t, reg.synced())
	})
}

// B78, T11: adding a handler after the end is an error with client-go's text.
func TestContract_B78_T11_JoiningTooLate(t *testing.T) {
	clientgoAPI(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10")).start()
		w.stop()
		require.True(t, w.stopped())
		reg, err := w.shared().AddEventHandler(funcs{})
		require.Error(t, err)
		require.True(t, reg == nil, "must not be a nil pointer in an interface, because programs compare it with nil")
		require.Regexp(t, "was not added to shared informer because it has stopped already$", err.Error())
		require.Error(t, w.addIndexers(cache.Indexers{"x": cache.MetaNamespaceIndexFunc}))
	})
}

// B80: a registration is synced when the informer is synced and the handler's calls for initial adds
// have returned. If the informer ends earlier, it never is.
func TestContract_B80_SyncOfARegistration(t *testing.T) {
	each(t, func(t T, r rig) {
		s := kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
		gate := make(chan struct{})
		s.OnList = func(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
			select {
			case <-gate:
			case <-ctx.Done():
			}
			return nil, ctx.Err()
		}
		w := r.world(t, s)
		step := make(chan struct{})
		reg := w.addHandler(funcs{AddFunc: func(any, bool) { <-step }})
		require.False(t, reg.synced())
		w.start()
		require.False(t, w.synced() || reg.synced())
		close(gate)
		synctest.Wait()
		require.True(t, w.synced())
		require.False(t, reg.synced())
		step <- struct{}{}
		synctest.Wait()
		require.False(t, reg.synced(), "one object is not delivered yet")
		step <- struct{}{}
		synctest.Wait()
		require.True(t, reg.synced())
	})
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2")))
		gate := make(chan struct{})
		reg := w.addHandler(funcs{AddFunc: func(any, bool) { <-gate }})
		stop := w.start().stop
		stopping := make(chan struct{})
		go func() { defer close(stopping); stop() }()
		synctest.Wait()
		close(gate)
		<-stopping
		require.False(t, reg.synced())
	})
}

// B80, B102: without objects, the informer and its registrations are synced at once.
func TestContract_B80_NothingToDeliver(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10"))
		_, before := w.addRecorder()
		w.start()
		_, after := w.addRecorder()
		synctest.Wait()
		require.True(t, before.synced() && after.synced() && w.synced())
	})
}

// B81: a removed handler gets no events. It may be removed again, from another informer, and after the
// end.
func TestContract_B81_Leaving(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		rec, reg := w.addRecorder()
		stays, _ := w.addRecorder()
		w.start()
		require.Len(t, rec.Take(), 1)
		stays.Take()
		require.NoError(t, reg.remove())
		require.NoError(t, reg.remove())
		synctest.Wait()
		w.Send(watch.Modified, kit.Pod("a", "11"))
		require.Empty(t, rec.Take())
		require.Len(t, stays.Take(), 1)
		w.stop()
		require.NoError(t, reg.remove())
	})
	clientgoAPI(t, func(t T, r rig) {
		w, other := r.world(t, kit.NewScript("10", kit.Pod("a", "1"))), r.world(t, kit.NewScript("10"))
		rec, reg := w.addRecorder()
		w.start()
		rec.Take()
		handle := reg.(sharedRegistration).handle
		require.NoError(t, other.shared().RemoveEventHandler(handle), "it is not a handler of this informer")
		require.Error(t, w.shared().RemoveEventHandler(foreignRegistration{}))
		w.Send(watch.Modified, kit.Pod("a", "11"))
		require.Len(t, rec.Take(), 1, "it is still registered")
	})
}

// foreignRegistration is a registration that does not belong to any informer.
type foreignRegistration struct {
	cache.ResourceEventHandlerRegistration
}

// B81: a callback in progress during the removal may finish. No other callback follows.
func TestContract_B81_LeavingDuringACallback(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2")))
		gate, rec := make(chan struct{}), &kit.Recorder{}
		h := rec.Handler()
		reg := w.addHandler(funcs{AddFunc: func(obj any, initial bool) { <-gate; h.AddFunc(obj, initial) }})
		w.start()
		require.NoError(t, reg.remove(), "remove does not wait")
		require.Empty(t, rec.Take())
		close(gate)
		require.LessOrEqual(t, len(rec.Take()), 2, "B81: client-go may deliver events that it has already taken")
	})
}

// B82, T2: ShutDownEventHandler waits for a callback in progress. If there is none, it returns at once.
func TestContract_B82_T2_ShuttingDown(t *testing.T) {
	clientgoAPI(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		_, never := w.addRecorder()
		shut := func(reg registration) error {
			return cache.ShutDownEventHandler(w.shared(), reg.(sharedRegistration).handle)
		}
		require.NoError(t, shut(never), "never started")
		gate := make(chan struct{})
		reg := w.addHandler(funcs{AddFunc: func(any, bool) { <-gate }})
		w.start()
		down := make(chan error, 1)
		go func() { down <- shut(reg) }()
		synctest.Wait()
		require.Empty(t, down, "it waits")
		close(gate)
		require.NoError(t, <-down)
		_, late := w.addRecorder()
		require.NoError(t, shut(late))
	})
}

// D15: a blocked late handler does not delay other handlers.
func TestContract_D15_B79_ALateHandlerDelaysNobody(t *testing.T) {
	ours(t, "it delays others while it sends the store to the handler, which a test cannot observe", func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		early, _ := w.addRecorder()
		w.start()
		early.Take()
		gate := make(chan struct{})
		defer close(gate)
		late := w.addHandler(funcs{AddFunc: func(any, bool) { <-gate }})
		synctest.Wait()
		w.Send(watch.Modified, kit.Pod("a", "11"))
		require.Len(t, early.Take(), 1)
		require.False(t, late.synced() || w.stopped())
		require.Equal(t, "11", w.version())
		require.NoError(t, w.addIndexers(cache.Indexers{"namespaces": cache.MetaNamespaceIndexFunc}))
		third, reg := w.addRecorder()
		require.Len(t, third.Take(), 1)
		require.NoError(t, reg.remove())
	})
}

// ignorePanics makes client-go report the panics of handlers instead of ending the process.
func ignorePanics(t *testing.T) {
	crash := utilruntime.ReallyCrash
	utilruntime.ReallyCrash = false
	t.Cleanup(func() { utilruntime.ReallyCrash = crash })
}

// D16: a handler that panics misses only the event of the panic. It gets the next event without a delay,
// and becomes synced.
func TestContract_D16_B80_AHandlerThatPanicsSyncs(t *testing.T) {
	ignorePanics(t)
	differs(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2")))
		var calls atomic.Int32
		reg := w.addHandler(funcs{
			AddFunc:    func(any, bool) { calls.Add(1); panic("on purpose") },
			UpdateFunc: func(any, any) { calls.Add(1); panic("on purpose") },
		})
		w.start()
		w.Send(watch.Modified, kit.Pod("a", "11"))
		synctest.Wait()
		require.EqualValues(t, 3, calls.Load(), "without a sleep of a second")
		require.True(t, reg.synced())
	})
}

// B97, D16: a handler that panics gets every event. Other handlers are not affected.
func TestContract_B97_D16_AHandlerThatPanicsGoesOn(t *testing.T) {
	ignorePanics(t)
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2")))
		clumsy := &kit.Recorder{}
		w.addHandler(funcs{AddFunc: func(obj any, initial bool) { clumsy.Handler().OnAdd(obj, initial); panic("on purpose") }})
		other, _ := w.addRecorder()
		w.start()
		require.Len(t, other.Take(), 2)
		w.Send(watch.Added, kit.Pod("c", "11"))
		time.Sleep(time.Minute)
		require.Equal(t, []string{"add c@11", "initial a@1", "initial b@2"}, clumsy.Sorted())
	})
}

// B97: with ReallyCrash, which is the default, a panic ends the process.
func TestContract_B97_B98_APanicEndsTheProcess(t *testing.T) {
	endsProcess(t, "on purpose", func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		w.addHandler(funcs{AddFunc: func(any, bool) { panic("on purpose") }})
		w.start()
		time.Sleep(time.Hour)
	})
}

// D17, B83: a handler may remove itself while the informer stops.
func TestContract_D17_AHandlerTakesItselfOut(t *testing.T) {
	each(t, func(t T, r rig) { removeItself(t, r, false) })
}

func TestContract_D17_B83_AHandlerTakesItselfOutAtTheEnd(t *testing.T) {
	crashes(t, timedOut, func(t T, r rig) { removeItself(t, r, true) })
}

func removeItself(t T, r rig, stopping bool) {
	w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
	gate, calls := make(chan struct{}), 0
	var reg registration
	reg = w.addHandler(funcs{AddFunc: func(any, bool) {
		calls++
		<-gate
		require.NoError(t, reg.remove())
	}})
	stop := w.start().stop
	down := make(chan struct{})
	if stopping {
		go func() { defer close(down); stop() }()
		synctest.Wait()
	}
	close(gate)
	if stopping {
		<-down
	}
	synctest.Wait()
	require.Equal(t, 1, calls)
}

// B117: handlers and readers get the stored object itself, not a copy, so they must not change it.
func TestContract_B117_B30_ObjectsAreShared(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1")))
		one, _ := w.addRecorder()
		two, _ := w.addRecorder()
		w.start()
		stored := w.get("default/a")
		r.requireSame(t, stored, one.Objects()[0])
		r.requireSame(t, stored, two.Objects()[0])
		one.Take()
		w.Send(watch.Modified, kit.Pod("a", "11", func(p *corev1.Pod) { p.Spec.NodeName = "n" }))
		synctest.Wait()
		r.requireSame(t, w.get("default/a"), one.Objects()[0])
		require.Empty(t, stored.(*corev1.Pod).Spec.NodeName, "the old object does not change")
	})
}

// T15, B117: client-go's mutation detector works. It reads its environment variable once, so the test
// has its own process.
func TestContract_T15_B117_TheMutationDetector(t *testing.T) {
	endsProcess(t, "modified", func(t T, r rig) {
		r.budget = 1 << 20 // a packed informer discards changed objects unless it keeps them decoded
		w := r.world(t, kit.NewScript("10", kit.Pod("a", "1"))).start()
		time.Sleep(5 * time.Second)
		w.get("default/a").(*corev1.Pod).Labels = map[string]string{"changed": "yes"}
		time.Sleep(5 * time.Second)
	})
}
