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

// stuckInB returns a handler with Latest delivery that has seen a@1, and is stuck in
// something else.
func stuckInB(t *testing.T) (*fed, *gated) {
	f, h := newFed(t, Options[*corev1.Pod]{}, 1), newGated()
	f.joins(h, HandlerOptions{Delivery: Latest, Resync: time.Hour})
	f.start()
	f.list("1", kit.Pod("a", "1"), kit.Pod("b", "1"))
	synctest.Wait()
	h.pass()
	h.pass()
	f.apply(does(deltafifo.Modified, kit.Pod("b", "2")))
	require.Len(t, h.take(), 3)
	return f, h
}

// The object is another one for a while, and itself when it goes.
func TestLatestTellsTheEndOfAnObjectThatWasBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f, h := stuckInB(t)
		f.apply(does(deltafifo.Modified, kit.Pod("a", "3", kit.UID("other"))))
		f.apply(does(deltafifo.Modified, kit.Pod("a", "4")))
		f.apply(does(deltafifo.Deleted, kit.Pod("a", "5")))
		h.open()
		require.Equal(t, []string{"delete a@5"}, h.take(), "its final state is known")
	})
}

// An object goes, and comes back, while its handler is told everything again and
// somebody asks how that is doing: old is what the handler has seen.
func TestLatestTellsWhatWasSeenAfterAResyncAndAStatus(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f, h := stuckInB(t)
		defer h.open()
		h.pass()
		time.Sleep(time.Hour)
		require.Len(t, h.take(), 1, "it is told again, and stuck in the first")
		f.apply(does(deltafifo.Modified, kit.Pod("b", "3")))
		f.apply(does(deltafifo.Modified, kit.Pod("a", "4")), does(deltafifo.Deleted, kit.Pod("a", "5")))
		synctest.Wait()
		f.Status()
		for range 2 { // until it is told of b
			h.pass()
			if lines := h.take(); lines[len(lines)-1] == "update b@2 b@3" {
				break
			}
		}
		f.apply(does(deltafifo.Added, kit.Pod("a", "6")))
		h.pass()
		require.Equal(t, []string{"update a@1 a@6"}, h.take())
	})
}
