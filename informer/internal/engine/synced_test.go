package engine_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// A handler is synced before it gets the first change that follows the initial state, as in
// client-go, even if the initial state is empty.
func TestAHandlerIsSyncedBeforeWhatFollowsTheInitialState(t *testing.T) {
	for name, delivery := range map[string]informer.Delivery{"every": informer.Every, "latest": informer.Latest} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
				var r informer.Registration
				var synced []bool
				r = f.register(informer.HandlerFunc[*corev1.Pod](func(informer.Change[*corev1.Pod]) { synced = append(synced, kit.Closed(r.Synced())) }), informer.HandlerOptions{Delivery: delivery})
				f.list("1")
				f.apply(deltaOf(deltafifo.Added, kit.Pod("a", "2")))
				f.start()
				synctest.Wait()
				require.Equal(t, []bool{true}, synced)
			})
		})
	}
}

// A handler of two sources is synced before it gets the first change that follows the second
// initial state, even if it takes both together.
func TestAHandlerOfJoinedSourcesIsSyncedBeforeWhatFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTestCore(t, informer.Options[*corev1.Pod]{}, 2)
		var r informer.Registration
		var synced []bool
		r = f.register(informer.HandlerFunc[*corev1.Pod](func(informer.Change[*corev1.Pod]) { synced = append(synced, kit.Closed(r.Synced())) }), informer.HandlerOptions{})
		f.list("1", kit.Pod("a", "1"))
		f.apply(deltafifo.Delta{Op: deltafifo.Begin, Source: 1})
		d := deltaOf(deltafifo.Added, kit.Pod("b", "1"))
		d.Source = 1
		f.apply(d, deltafifo.Delta{Op: deltafifo.Commit, Source: 1, Version: "1"})
		f.apply(deltaOf(deltafifo.Added, kit.Pod("c", "2")))
		f.start()
		synctest.Wait()
		require.Equal(t, []bool{false, false, true}, synced)
	})
}

// A handler that panics in the delete of a recreated object is not synced before it has handled the
// add too.
func TestAHandlerThatIsOwedAnAddIsNotSynced(t *testing.T) {
	kit.SurvivePanics(t)
	f := newTestCore(t, informer.Options[*corev1.Pod]{}, 2)
	var r informer.Registration
	release := make(chan struct{})
	synced := make(chan bool, 1)
	r = f.register(informer.HandlerFunc[*corev1.Pod](func(c informer.Change[*corev1.Pod]) {
		switch {
		case c.Initial:
			<-release
		case c.Kind == informer.Deleted:
			panic("on purpose")
		default:
			synced <- kit.Closed(r.Synced())
		}
	}), informer.HandlerOptions{})
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
