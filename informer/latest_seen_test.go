package informer

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// stuckInB returns a core and a handler with Latest delivery that has handled a@1 and is stuck in
// an update of b.
func stuckInB(t *testing.T) (*testCore, *gated) {
	f, h := newTestCore(t, Options[*corev1.Pod]{}, 1), newGated()
	f.register(h, HandlerOptions{Delivery: Latest, Resync: time.Hour})
	f.start()
	f.list("1", kit.Pod("a", "1"), kit.Pod("b", "1"))
	synctest.Wait()
	h.pass()
	h.pass()
	f.apply(deltaOf(deltafifo.Modified, kit.Pod("b", "2")))
	require.Len(t, h.take(), 3)
	return f, h
}

// An object is replaced by another object of the same name, comes back and is deleted, while the
// handler is stuck. The handler gets one delete, with the object's final state.
func TestLatestTellsTheEndOfAnObjectThatWasBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f, h := stuckInB(t)
		f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "3", kit.UID("other"))))
		f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "4")))
		f.apply(deltaOf(deltafifo.Deleted, kit.Pod("a", "5")))
		h.open()
		require.Equal(t, []string{"delete a@5"}, h.take(), "its final state is known")
	})
}

// An object is deleted during a resync, Status is read, and the object comes back. The handler gets
// one update, from the version that it has seen last.
func TestLatestTellsWhatWasSeenAfterAResyncAndAStatus(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f, h := stuckInB(t)
		defer h.open()
		h.pass()
		time.Sleep(time.Hour)
		require.Len(t, h.take(), 1, "it is told again, and stuck in the first")
		f.apply(deltaOf(deltafifo.Modified, kit.Pod("b", "3")))
		f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "4")), deltaOf(deltafifo.Deleted, kit.Pod("a", "5")))
		synctest.Wait()
		f.Status()
		for range 2 { // until the handler gets the update of b
			h.pass()
			if lines := h.take(); lines[len(lines)-1] == "update b@2 b@3" {
				break
			}
		}
		f.apply(deltaOf(deltafifo.Added, kit.Pod("a", "6")))
		h.pass()
		require.Equal(t, []string{"update a@1 a@6"}, h.take())
	})
}
