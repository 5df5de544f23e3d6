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

// D28: a handler that ends its goroutine ends the run, for all handlers and waits.
func TestContract_D28_AHandlerThatEndsItsGoroutine(t *testing.T) {
	noCrash(t)
	moments := map[string]struct {
		when   func(Change[*corev1.Pod]) bool
		told   int
		synced bool
	}{
		"at the beginning":                {func(Change[*corev1.Pod]) bool { return true }, 1, false},
		"at the end of the initial state": {nil, 3, false}, // counted below
		"when told of a delete":           {func(c Change[*corev1.Pod]) bool { return c.Kind == Deleted }, 5, true},
		"in a resync":                     {func(c Change[*corev1.Pod]) bool { return c.Kind == Updated && c.Old == c.New }, 7, true},
	}
	for when, moment := range moments {
		for _, delivery := range deliveries {
			t.Run(when, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					told := 0
					s, h := newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"), kit.Pod("c", "3")), &exitsOn{when: moment.when}
					if when == "at the end of the initial state" {
						h.when = func(Change[*corev1.Pod]) bool { told++; return told == 3 }
					}
					i := New(sourceOf(s), Options[*corev1.Pod]{Observe: observed})
					r, err := i.Handle(h, HandlerOptions{Delivery: delivery, Resync: time.Hour})
					require.NoError(t, err)
					other, err := i.Handle(&journal{}, HandlerOptions{Delivery: delivery})
					require.NoError(t, err)
					delivered := waiting(t.Context(), i, "99")
					wait, err := i.Start(t.Context())
					require.NoError(t, err)
					synctest.Wait()
					for n, change := range []watch.EventType{watch.Modified, watch.Deleted, watch.Added} {
						if !kit.Closed(i.Done()) {
							s.Send(change, kit.Pod("a", fmt.Sprint(11+n)))
							synctest.Wait()
						}
					}
					require.ErrorIs(t, wait(), ErrExited)
					require.ErrorIs(t, <-delivered, ErrExited)
					require.ErrorIs(t, i.Status().LastError, ErrExited)
					require.True(t, i.Status().Stopped)
					require.Len(t, h.take(), moment.told)
					require.Equal(t, moment.synced, kit.Closed(r.Synced()))
					require.True(t, kit.Closed(r.Done()) && kit.Closed(other.Done()))
				})
			})
		}
	}
}

// D28: a batch function that ends its goroutine does the same; the rest of its batch is not delivered.
func TestContract_D28_ABatchFunction(t *testing.T) {
	noCrash(t)
	eachDelivery(t, func(t *testing.T, d Delivery) {
		f := newTestCore(t, Options[*corev1.Pod]{Observe: func(Event) {}}, 1)
		var told []string
		f.joinsBatch(func(b Batch[*corev1.Pod]) {
			for c := range b.All() {
				if told = append(told, line(c)); c.New.Name == "p001" {
					runtime.Goexit()
				}
			}
		}, 4, HandlerOptions{Delivery: d})
		f.start()
		f.list("1")
		deltas, lines := adds(0, 7)
		f.apply(deltas...)
		synctest.Wait()
		require.Equal(t, lines[:2], told)
		require.ErrorIs(t, f.ExitError(), ErrExited)
	})
}

// D28: an observer that ends the goroutine of a handler ends the run.
func TestContract_D28_AnObserverOfAHandler(t *testing.T) {
	kit.SurvivePanics(t)
	bubble(t, func(t *testing.T) {
		s, j := newScript("10", kit.Pod("a", "1")), &journal{}
		i := New(sourceOf(s), Options[*corev1.Pod]{Observe: func(e Event) {
			if _, ok := e.(HandlerPanicked); ok {
				runtime.Goexit()
			}
		}})
		_, err := i.Handle(HandlerFunc[*corev1.Pod](func(c Change[*corev1.Pod]) {
			j.Handle(c)
			panic("on purpose")
		}), HandlerOptions{})
		require.NoError(t, err)
		wait, err := i.Start(t.Context())
		require.NoError(t, err)
		require.ErrorIs(t, wait(), ErrExited)
		require.Equal(t, []string{"initial a@1"}, j.take())
	})
}

// D28: the event at which that happened counts as delivered, also if none follows.
func TestContract_D28_AnObserverOfAHandlersLastEvent(t *testing.T) {
	kit.SurvivePanics(t)
	bubble(t, func(t *testing.T) {
		s := newScript("10", kit.Pod("a", "1"))
		i := New(sourceOf(s), Options[*corev1.Pod]{Observe: func(e Event) {
			if _, ok := e.(HandlerPanicked); ok {
				runtime.Goexit()
			}
		}})
		r, err := i.Handle(HandlerFunc[*corev1.Pod](func(c Change[*corev1.Pod]) {
			if c.Kind == Deleted {
				panic("on purpose")
			}
		}), HandlerOptions{})
		require.NoError(t, err)
		wait, err := i.Start(t.Context())
		require.NoError(t, err)
		synctest.Wait()
		s.Send(watch.Deleted, kit.Pod("a", "11"))
		require.ErrorIs(t, wait(), ErrExited)
		require.Zero(t, r.Backlog())
	})
}

// A handler that ends its goroutine after its informer has stopped ends nothing any more. One that ends it after its
// registration was stopped ends the run.
func TestAHandlerThatEndsItsGoroutineAtTheEnd(t *testing.T) {
	for _, end := range []string{"of the registration", "of the run"} {
		t.Run(end, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				i := New(sourceOf(newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))), Options[*corev1.Pod]{Observe: observed})
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
				synctest.Wait()
				close(gate)
				<-r.Done()
				if err := wait(); end == "of the run" {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, ErrExited)
				}
				require.Equal(t, 1, told)
			})
		})
	}
}

// D28: so does a handler of client-go's API.
func TestContract_D28_AHandlerOfClientgosThatEndsItsGoroutine(t *testing.T) {
	noCrash(t)
	eachClientgoInformer(t, func(t *testing.T, create constructor) {
		s := newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
		i := create(s, 0, nil)
		r := &kit.Recorder{}
		inner := r.Handler()
		_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(obj any) { inner.OnAdd(obj, true) },
			UpdateFunc: func(old, obj any) { inner.OnUpdate(old, obj); runtime.Goexit() },
		})
		require.NoError(t, err)
		startClientgo(t, i)
		s.Send(watch.Modified, kit.Pod("a", "11"))
		lines := r.Take()
		require.Len(t, lines, 3)
		require.Equal(t, "update a@1 a@11", lines[2])
		require.True(t, i.IsStopped())
	})
}
