package informer

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// failures are the ways in which a handler's call can fail.
var failures = map[string]func(){"panics": func() { panic("on purpose") }, "ends its goroutine": runtime.Goexit}

func TestAHandlerThatPanicsHoldsNothing(t *testing.T) {
	kit.SurvivePanics(t)
	moments := map[string]func(Change[*corev1.Pod]) bool{
		"in the initial state":  func(c Change[*corev1.Pod]) bool { return c.Initial },
		"when told of a delete": func(c Change[*corev1.Pod]) bool { return c.Kind == Deleted },
		"when told of the add":  func(c Change[*corev1.Pod]) bool { return c.Kind == Added && !c.Initial },
	}
	for when, is := range moments {
		t.Run(when, func(t *testing.T) {
			f := newTestCore(t, Options[*corev1.Pod]{}, 1)
			r := f.register(HandlerFunc[*corev1.Pod](func(c Change[*corev1.Pod]) {
				if is(c) {
					panic("on purpose")
				}
			}), HandlerOptions{})
			f.start()
			var g ghosts
			f.list("1", g.watch(kit.Pod("a", "1", kit.UID("one"))))
			f.settled(r)
			f.apply(deltaOf(deltafifo.Modified, g.watch(kit.Pod("a", "2", kit.UID("two")))))
			f.settled(r)
			f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "3", kit.UID("two"))))
			f.settled(r)
			require.Zero(t, g.left())
			runtime.KeepAlive(r)
		})
	}
}

func TestAReceiverWhoseHandlerFailsHoldsNothing(t *testing.T) {
	for how, fail := range failures {
		t.Run(how, func(t *testing.T) {
			var g ghosts
			r := &typedReceiver[*corev1.Pod]{handler: HandlerFunc[*corev1.Pod](func(Change[*corev1.Pod]) { fail() })}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				defer func() { _ = recover() }() // recovers nil after a Goexit
				r.CallHandler(batchOf(eventlog.Event{Pair: eventlog.Pair{New: g.watch(kit.Pod("a", "1"))}, Header: eventlog.Header{Kind: eventlog.Added}}))
			}()
			<-ended
			require.Zero(t, g.left())
			runtime.KeepAlive(r)
		})
	}
}

// A handler that panics in the delete of a recreated object is not synced before it has handled the
// add too.
func TestAHandlerThatIsOwedAnAddIsNotSynced(t *testing.T) {
	kit.SurvivePanics(t)
	f := newTestCore(t, Options[*corev1.Pod]{}, 2)
	var r *registration
	release := make(chan struct{})
	synced := make(chan bool, 1)
	r = f.register(HandlerFunc[*corev1.Pod](func(c Change[*corev1.Pod]) {
		switch {
		case c.Initial:
			<-release
		case c.Kind == Deleted:
			panic("on purpose")
		default:
			synced <- kit.Closed(r.Synced())
		}
	}), HandlerOptions{})
	f.start()
	f.list("1", kit.Pod("a", "1", kit.UID("one")))
	f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "2", kit.UID("two"))))
	for _, op := range []deltafifo.Op{deltafifo.Begin, deltafifo.Commit} { // source 1 is empty
		f.apply(deltafifo.Delta{Op: op, Version: "2", Source: 1})
	}
	close(release)
	require.False(t, <-synced)
	<-r.Synced()
}

// The backlog of a removed handler is empty. It is not read from the log, which no longer keeps
// events for the handler.
func TestTheBacklogOfAHandlerThatLeftIsEmpty(t *testing.T) {
	f := newTestCore(t, Options[*corev1.Pod]{}, 1)
	r := f.register(HandlerFunc[*corev1.Pod](func(Change[*corev1.Pod]) {}), HandlerOptions{Delivery: Latest})
	f.list("1", kit.Pod("a", "1"))
	r.Stop()
	f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "2")))
	require.Zero(t, r.Backlog())
}

func batchOf(events ...eventlog.Event) *eventlog.Batch {
	b := eventlog.NewBatch(len(events))
	for _, e := range events {
		b.Add(e)
	}
	return b
}
