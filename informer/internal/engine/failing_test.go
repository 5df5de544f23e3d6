package engine_test

import (
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

func TestAHandlerThatPanicsHoldsNothing(t *testing.T) {
	kit.SurvivePanics(t)
	moments := map[string]func(informer.Change[*corev1.Pod]) bool{
		"in the initial state": func(c informer.Change[*corev1.Pod]) bool { return c.Initial },
		"on a delete":          func(c informer.Change[*corev1.Pod]) bool { return c.Kind == informer.Deleted },
		"on the add":           func(c informer.Change[*corev1.Pod]) bool { return c.Kind == informer.Added && !c.Initial },
	}
	for when, is := range moments {
		t.Run(when, func(t *testing.T) {
			f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
			r := f.register(informer.HandlerFunc[*corev1.Pod](func(c informer.Change[*corev1.Pod]) {
				if is(c) {
					panic("on purpose")
				}
			}), informer.HandlerOptions{})
			f.start()
			var g kit.Ghosts
			f.list("1", g.Watch(kit.Pod("a", "1", kit.UID("one"))))
			f.settled(r)
			f.apply(deltaOf(deltafifo.Modified, g.Watch(kit.Pod("a", "2", kit.UID("two")))))
			f.settled(r)
			f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "3", kit.UID("two"))))
			f.settled(r)
			require.Zero(t, g.Left())
			runtime.KeepAlive(r)
		})
	}
}

// The backlog of a removed handler is empty. It is not read from the log, which no longer keeps
// events for the handler.
func TestTheBacklogOfAHandlerThatLeftIsEmpty(t *testing.T) {
	f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
	r := f.register(informer.HandlerFunc[*corev1.Pod](func(informer.Change[*corev1.Pod]) {}), informer.HandlerOptions{Delivery: informer.Latest})
	f.list("1", kit.Pod("a", "1"))
	r.Stop()
	f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "2")))
	require.Zero(t, r.Backlog())
}

// An index function ends the goroutine in a write section. A handler that is added then gets each change
// made before once: in the initial state or as an event.
func TestAHandlerAddedAfterAGoexitIsNotifiedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, r := newTestCore(t, informer.Options[*corev1.Pod]{}, 1), &kit.Recorder{}
		require.NoError(t, f.Writer().AddIndexes(indexer.Index[any]{Name: "deadly", Append: func(values []string, obj any) []string {
			if obj.(*corev1.Pod).Labels["poison"] != "" {
				runtime.Goexit()
			}
			return values
		}}))
		early := &kit.Recorder{}
		f.register(rig.Idle{}, informer.HandlerOptions{})
		f.add(early.Handler())
		f.list("10", kit.Pod("a", "1"))
		f.start()
		batch := []deltafifo.Delta{
			deltaOf(deltafifo.Modified, kit.Pod("a", "11")),
			deltaOf(deltafifo.Added, kit.Pod("b", "12", kit.Label("poison", "exit"))),
			deltaOf(deltafifo.Added, kit.Pod("c", "13")),
		}
		require.False(t, rig.Apart(func() { f.ApplySome(batch) }))
		require.Equal(t, "11", f.Writer().Indexer().Version())
		f.add(r.Handler())
		f.apply(deltaOf(deltafifo.Added, kit.Pod("d", "14")))
		require.Equal(t, []string{"initial a@11", "add d@14"}, r.Take())
		require.Equal(t, []string{"initial a@1", "update a@1 a@11", "add d@14"}, early.Take())
	})
}
