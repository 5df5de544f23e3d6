package informer

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// exitsOn is a journal that ends its goroutine on some changes.
type exitsOn struct {
	journal
	when func(Change[*corev1.Pod]) bool
}

func (h *exitsOn) Handle(c Change[*corev1.Pod]) {
	h.journal.Handle(c)
	if h.when(c) {
		runtime.Goexit()
	}
}

// noCrash fails the test if a crash is reported to utilruntime. A handler that ends its goroutine
// is no crash: a test's handler may call t.FailNow.
func noCrash(t *testing.T) {
	handlers := utilruntime.PanicHandlers
	utilruntime.PanicHandlers = []func(context.Context, any){func(_ context.Context, p any) { t.Errorf("a crash is reported: %v", p) }}
	t.Cleanup(func() { utilruntime.PanicHandlers = handlers })
}

// A handler that ends its goroutine has failed on one change. It gets the other changes and is
// synced, and each failure is observed.
func TestAHandlerThatEndsItsGoroutineIsToldTheRest(t *testing.T) {
	noCrash(t)
	moments := map[string]struct {
		when     func(Change[*corev1.Pod]) bool
		failures int
	}{
		"once, in the initial state":  {func(c Change[*corev1.Pod]) bool { return c.Initial && c.New.Name == "b" }, 1},
		"in all of the initial state": {func(c Change[*corev1.Pod]) bool { return c.Initial }, 3},
		"when told of a delete":       {func(c Change[*corev1.Pod]) bool { return c.Kind == Deleted }, 1},
		"in a resync":                 {func(c Change[*corev1.Pod]) bool { return c.Kind == Updated && c.Old == c.New }, 3},
		"always":                      {func(Change[*corev1.Pod]) bool { return true }, 9},
	}
	for when, moment := range moments {
		for _, delivery := range deliveries {
			t.Run(when, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					s, h := newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"), kit.Pod("c", "3")), &exitsOn{when: moment.when}
					seen := newEvents()
					i := New(s, Options[*corev1.Pod]{Observe: seen.observe})
					r, err := i.Handle(h, HandlerOptions{Name: "leaver", Delivery: delivery, Resync: time.Hour})
					require.NoError(t, err)
					stop := start(t, i)
					require.True(t, closed(r.Synced()), "what it failed on was told, too")
					for n, change := range []watch.EventType{watch.Modified, watch.Deleted, watch.Added} {
						s.Send(change, kit.Pod("a", fmt.Sprint(11+n)))
						synctest.Wait()
					}
					time.Sleep(time.Hour)
					lines := h.take()
					require.ElementsMatch(t, []string{"initial a@1", "initial b@2", "initial c@3"}, lines[:3])
					require.Equal(t, []string{"update a@1 a@11", "delete a@12", "add a@13"}, lines[3:6])
					require.ElementsMatch(t, []string{"update a@13 a@13", "update b@2 b@2", "update c@3 c@3"}, lines[6:])
					require.Zero(t, r.Backlog())
					require.False(t, closed(r.Done()))
					require.Len(t, i.Status().Handlers, 1)
					require.Equal(t, moment.failures, i.Status().Handlers[0].Failures)
					exited := of[HandlerExited](seen)
					require.Len(t, exited, moment.failures)
					require.Equal(t, HandlerExited{Handler: "leaver"}, exited[0])
					stop()
					require.True(t, closed(r.Done()))
				})
			})
		}
	}
}

// A handler that ends its goroutine after its registration or its informer was stopped is not
// called again.
func TestAHandlerThatEndsItsGoroutineAtTheEnd(t *testing.T) {
	for _, end := range []string{"of the registration", "of the run"} {
		t.Run(end, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				i := New(newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2")), Options[*corev1.Pod]{Observe: observed})
				gate, told := make(chan struct{}), 0
				r, err := i.Handle(HandlerFunc[*corev1.Pod](func(Change[*corev1.Pod]) {
					told++
					<-gate
					runtime.Goexit()
				}), HandlerOptions{})
				require.NoError(t, err)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				wait, err := i.Start(ctx)
				require.NoError(t, err)
				synctest.Wait()
				if end == "of the run" {
					cancel()
				} else {
					r.Stop()
				}
				close(gate)
				<-r.Done()
				cancel()
				wait()
				require.Equal(t, 1, told)
			})
		})
	}
}

func TestAHandlerOfClientgosThatEndsItsGoroutineIsToldTheRest(t *testing.T) {
	noCrash(t)
	eachClientgoInformer(t, func(t *testing.T, create constructor) {
		s := newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
		i := create(s, 0, nil)
		r := &kit.Recorder{}
		inner := r.Handler()
		reg, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(obj any) { inner.OnAdd(obj, true); runtime.Goexit() },
			UpdateFunc: func(old, obj any) { inner.OnUpdate(old, obj); runtime.Goexit() },
		})
		require.NoError(t, err)
		startClientgo(t, i)
		s.Send(watch.Modified, kit.Pod("a", "11"))
		lines := r.Take()
		require.Len(t, lines, 3)
		require.ElementsMatch(t, []string{"initial a@1", "initial b@2"}, lines[:2])
		require.Equal(t, "update a@1 a@11", lines[2])
		require.True(t, reg.HasSynced())
	})
}
