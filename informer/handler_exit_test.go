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

// D28: a handler that ends its goroutine ends its registration, and nothing else.
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
					s, h, other := newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"), kit.Pod("c", "3")), &exitsOn{when: moment.when}, &journal{}
					if when == "at the end of the initial state" {
						h.when = func(Change[*corev1.Pod]) bool { told++; return told == 3 }
					}
					seen := newEvents()
					i := New(s, Options[*corev1.Pod]{Observe: seen.observe})
					r, err := i.Handle(h, HandlerOptions{Name: "leaver", Delivery: delivery, Resync: time.Hour})
					require.NoError(t, err)
					_, err = i.Handle(other, HandlerOptions{Delivery: delivery})
					require.NoError(t, err)
					require.NoError(t, r.Err())
					stop := start(t, i)
					for n, change := range []watch.EventType{watch.Modified, watch.Deleted, watch.Added} {
						s.Send(change, kit.Pod("a", fmt.Sprint(11+n)))
						synctest.Wait()
					}
					time.Sleep(2 * time.Hour)
					require.Len(t, h.take(), moment.told)
					require.Len(t, other.take(), 6)
					require.True(t, closed(r.Done()))
					require.Equal(t, moment.synced, closed(r.Synced()))
					require.ErrorIs(t, r.Err(), ErrExited)
					require.ErrorContains(t, r.Err(), `"leaver"`)
					require.Zero(t, r.Backlog())
					require.Len(t, i.Status().Handlers, 1)
					require.Equal(t, []HandlerExited{{Handler: "leaver"}}, of[HandlerExited](seen))
					require.True(t, i.Status().Watching)
					require.NotErrorIs(t, i.Status().LastError, ErrExited)
					stop()
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
		r := f.joinsBatch(func(b Batch[*corev1.Pod]) {
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
		require.True(t, closed(r.Done()))
		require.ErrorIs(t, r.Err(), ErrExited)
		require.Empty(t, f.Status().Handlers)
	})
}

// D28: the handlers that come after it are told everything, also if it has ended at the last of all events that
// it had taken: they may get its batch.
func TestContract_D28_HandlersAfterOneThatEnded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f, told := newTestCore(t, Options[*corev1.Pod]{Observe: func(Event) {}}, 1), 0
		f.start()
		f.list("1")
		f.register(HandlerFunc[*corev1.Pod](func(Change[*corev1.Pod]) {
			if told++; told == burst {
				runtime.Goexit()
			}
		}), HandlerOptions{})
		deltas, lines := adds(0, burst)
		f.apply(deltas...)
		synctest.Wait()
		require.Equal(t, burst, told)
		j := &journal{}
		f.register(j, HandlerOptions{})
		synctest.Wait()
		require.Len(t, j.take(), len(lines))
	})
}

// D28: an observer that ends the goroutine of a handler ends the run, and not the registration.
func TestContract_D28_AnObserverOfAHandler(t *testing.T) {
	kit.SurvivePanics(t)
	bubble(t, func(t *testing.T) {
		s, j := newScript("10", kit.Pod("a", "1")), &journal{}
		i := New(s, Options[*corev1.Pod]{Observe: func(e Event) {
			if _, ok := e.(HandlerPanicked); ok {
				runtime.Goexit()
			}
		}})
		r, err := i.Handle(HandlerFunc[*corev1.Pod](func(c Change[*corev1.Pod]) {
			j.Handle(c)
			panic("on purpose")
		}), HandlerOptions{})
		require.NoError(t, err)
		wait, err := i.Start(t.Context())
		require.NoError(t, err)
		err = wait()
		require.ErrorIs(t, err, ErrExited)
		require.ErrorContains(t, err, "Observe, called with a informer.HandlerPanicked")
		require.NoError(t, r.Err())
		require.Equal(t, []string{"initial a@1"}, j.take())
	})
}

// D28: the event at which that happened counts as delivered, also if none follows.
func TestContract_D28_AnObserverOfAHandlersLastEvent(t *testing.T) {
	kit.SurvivePanics(t)
	bubble(t, func(t *testing.T) {
		s := newScript("10", kit.Pod("a", "1"))
		i := New(s, Options[*corev1.Pod]{Observe: func(e Event) {
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
				require.NoError(t, wait())
				require.Equal(t, 1, told)
			})
		})
	}
}

func TestContract_D28_AHandlerOfClientgosThatEndsItsGoroutine(t *testing.T) {
	noCrash(t)
	eachClientgoInformer(t, func(t *testing.T, create constructor) {
		s := newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
		i := create(s, 0, nil)
		r := &kit.Recorder{}
		inner := r.Handler()
		reg, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(obj any) { inner.OnAdd(obj, true) },
			UpdateFunc: func(old, obj any) { inner.OnUpdate(old, obj); runtime.Goexit() },
		})
		require.NoError(t, err)
		other, _ := addRecorder(t, i)
		startClientgo(t, i)
		s.Send(watch.Modified, kit.Pod("a", "11"))
		s.Send(watch.Modified, kit.Pod("a", "12"))
		lines := r.Take()
		require.Len(t, lines, 3)
		require.Equal(t, "update a@1 a@11", lines[2])
		require.Len(t, other.Take(), 4)
		require.True(t, reg.HasSynced())
		require.NoError(t, i.RemoveEventHandler(reg))
	})
}
