package informer_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

// exitsOn is a journal that ends its goroutine on some changes.
type exitsOn struct {
	rig.Journal
	when func(informer.Change[*corev1.Pod]) bool
}

func (h *exitsOn) Handle(c informer.Change[*corev1.Pod]) {
	h.Journal.Handle(c)
	if h.when(c) {
		runtime.Goexit()
	}
}

// D28: a handler that ends its goroutine ends the run, for all handlers and waits.
func TestContract_D28_AHandlerThatEndsItsGoroutine(t *testing.T) {
	kit.NoPanics(t)
	moments := map[string]struct {
		when     func(informer.Change[*corev1.Pod]) bool
		recorded int
		synced   bool
	}{
		"at the beginning":                {func(informer.Change[*corev1.Pod]) bool { return true }, 1, false},
		"at the end of the initial state": {nil, 3, false}, // counted below
		"on a delete":                     {func(c informer.Change[*corev1.Pod]) bool { return c.Kind == informer.Deleted }, 5, true},
		"in a resync":                     {func(c informer.Change[*corev1.Pod]) bool { return c.Kind == informer.Updated && c.Old == c.New }, 7, true},
	}
	for when, moment := range moments {
		for _, delivery := range rig.Deliveries {
			t.Run(when, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					recorded := 0
					s, h := rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"), kit.Pod("c", "3")), &exitsOn{when: moment.when}
					if when == "at the end of the initial state" {
						h.when = func(informer.Change[*corev1.Pod]) bool { recorded++; return recorded == 3 }
					}
					i := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Observe: rig.Observed})
					r, err := i.Handle(h, informer.HandlerOptions{Delivery: delivery, Resync: time.Hour})
					require.NoError(t, err)
					other, err := i.Handle(&rig.Journal{}, informer.HandlerOptions{Delivery: delivery})
					require.NoError(t, err)
					delivered := rig.Waiting(t.Context(), i, "99")
					wait, err := i.Start(t.Context())
					require.NoError(t, err)
					synctest.Wait()
					for n, change := range []watch.EventType{watch.Modified, watch.Deleted, watch.Added} {
						if !kit.Closed(i.Done()) {
							s.Send(change, kit.Pod("a", fmt.Sprint(11+n)))
							synctest.Wait()
						}
					}
					require.ErrorIs(t, wait(), informer.ErrExited)
					require.ErrorIs(t, <-delivered, informer.ErrExited)
					require.ErrorIs(t, i.Status().LastError, informer.ErrExited)
					require.True(t, i.Status().Stopped)
					require.Len(t, h.Take(), moment.recorded)
					require.Equal(t, moment.synced, kit.Closed(r.Synced()))
					require.True(t, kit.Closed(r.Done()) && kit.Closed(other.Done()))
				})
			})
		}
	}
}

// D28: an observer that ends the goroutine of a handler ends the run.
func TestContract_D28_AnObserverOfAHandler(t *testing.T) {
	kit.SurvivePanics(t)
	synctest.Test(t, func(t *testing.T) {
		s, j := rig.NewScript("10", kit.Pod("a", "1")), &rig.Journal{}
		i := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Observe: func(e informer.Event) {
			if _, ok := e.(informer.HandlerPanicked); ok {
				runtime.Goexit()
			}
		}})
		_, err := i.Handle(informer.HandlerFunc[*corev1.Pod](func(c informer.Change[*corev1.Pod]) {
			j.Handle(c)
			panic("on purpose")
		}), informer.HandlerOptions{})
		require.NoError(t, err)
		wait, err := i.Start(t.Context())
		require.NoError(t, err)
		require.ErrorIs(t, wait(), informer.ErrExited)
		require.Equal(t, []string{"initial a@1"}, j.Take())
	})
}

// D28: the event at which that happened counts as delivered, also if none follows.
func TestContract_D28_AnObserverOfAHandlersLastEvent(t *testing.T) {
	kit.SurvivePanics(t)
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("10", kit.Pod("a", "1"))
		i := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Observe: func(e informer.Event) {
			if _, ok := e.(informer.HandlerPanicked); ok {
				runtime.Goexit()
			}
		}})
		r, err := i.Handle(informer.HandlerFunc[*corev1.Pod](func(c informer.Change[*corev1.Pod]) {
			if c.Kind == informer.Deleted {
				panic("on purpose")
			}
		}), informer.HandlerOptions{})
		require.NoError(t, err)
		wait, err := i.Start(t.Context())
		require.NoError(t, err)
		synctest.Wait()
		s.Send(watch.Deleted, kit.Pod("a", "11"))
		require.ErrorIs(t, wait(), informer.ErrExited)
		require.Zero(t, r.Backlog())
	})
}

// A handler that ends its goroutine after its informer has stopped ends nothing any more. One that ends it after its
// registration was stopped ends the run.
func TestAHandlerThatEndsItsGoroutineAtTheEnd(t *testing.T) {
	for _, end := range []string{"of the registration", "of the run"} {
		t.Run(end, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := informer.New(rig.SourceOf(rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))), informer.Options[*corev1.Pod]{Observe: rig.Observed})
				gate, recorded := make(chan struct{}), 0
				r, err := i.Handle(informer.HandlerFunc[*corev1.Pod](func(informer.Change[*corev1.Pod]) {
					recorded++
					<-gate
					runtime.Goexit()
				}), informer.HandlerOptions{})
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
					require.ErrorIs(t, err, informer.ErrExited)
				}
				require.Equal(t, 1, recorded)
			})
		})
	}
}

// D28: so does a handler of client-go's API.
func TestContract_D28_AHandlerOfClientgosThatEndsItsGoroutine(t *testing.T) {
	kit.NoPanics(t)
	eachClientgoInformer(t, func(t *testing.T, create constructor) {
		s := rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
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
