package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/internal/delivery"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

// D1: with Latest delivery, 20,000 updates of one object behind a stuck handler become one update.
func TestContract_D1_LatestMergesWhatAStuckHandlerHasNotSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
		stuck, every := rig.NewGated(), &rig.Journal{}
		r := f.register(stuck, informer.HandlerOptions{Delivery: informer.Latest})
		f.register(every, informer.HandlerOptions{})
		f.start()
		f.list("1", kit.Pod("a", "1"), kit.Pod("b", "1"))
		synctest.Wait()
		stuck.Pass()
		stuck.Pass()
		f.apply(deltaOf(deltafifo.Modified, kit.Pod("b", "2")))
		synctest.Wait()
		require.Len(t, stuck.Take(), 3, "and it is stuck in the third")
		for n := range 20_000 {
			f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", fmt.Sprint(n+3))))
		}
		f.apply(deltaOf(deltafifo.Deleted, kit.Pod("b", "30000")), deltaOf(deltafifo.Added, kit.Pod("c", "30001")), deltaOf(deltafifo.Deleted, kit.Pod("c", "30002")))
		stuck.Open()
		require.Equal(t, []string{"update a@1 a@20002", "delete b@30000"}, stuck.Take())
		require.Zero(t, r.Backlog())
		require.Len(t, every.Take(), 20_000+6, "lossless by default")
	})
}

func TestBacklogOfLatestIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
		stuck := rig.NewGated()
		r := f.register(stuck, informer.HandlerOptions{Delivery: informer.Latest})
		f.start()
		f.list("1", kit.Pod("a", "1"))
		synctest.Wait()
		stuck.Pass()
		for n := range 5000 {
			f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", fmt.Sprint(n+2))))
			synctest.Wait() // the handler is in the call of the first update
		}
		synctest.Wait()
		defer stuck.Open()
		before := r.Backlog()
		require.LessOrEqual(t, before, delivery.BehindLimit+256+2, "what is merged, what is not yet, and what the handler has in hand")
		require.Equal(t, before, r.Backlog(), "asking changes nothing")
	})
}

func TestBacklogCountsWhatFollowsTheInitialState(t *testing.T) {
	for _, delivery := range rig.Deliveries {
		synctest.Test(t, func(t *testing.T) {
			f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
			stuck := rig.NewGated()
			r := f.register(stuck, informer.HandlerOptions{Delivery: delivery})
			f.start()
			f.list("1", kit.Pod("a", "1"), kit.Pod("b", "1"), kit.Pod("c", "1"))
			synctest.Wait()
			defer stuck.Open()
			require.Equal(t, 3, r.Backlog(), "the first is in hand, and has not returned")
			f.apply(deltaOf(deltafifo.Added, kit.Pod("d", "2")), deltaOf(deltafifo.Added, kit.Pod("e", "3")))
			synctest.Wait()
			require.Equal(t, 5, r.Backlog())
		})
	}
}

// A resync does not redeliver an object after the handler has received its delete.
func TestAResyncOfLatestDoesNotBringBackWhatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := lateResync(t)
		f.apply(deltaOf(deltafifo.Deleted, kit.Pod("a", "9")))
		h.Open()
		lines := h.Take()
		require.Contains(t, lines, "delete a@9")
		after := lines[slices.Index(lines, "delete a@9")+1:]
		require.NotContains(t, after, "update a@2 a@2", "all: %v", lines)
	})
}

func TestAResyncOfLatestDoesNotGoBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := lateResync(t)
		f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "9")))
		h.Open()
		last := ""
		for _, l := range h.Take() {
			if l[len(l)-3:] == "a@9" || l[len(l)-3:] == "a@2" {
				last = l
			}
		}
		require.Contains(t, last, "a@9", "the last version of a that the handler got")
	})
}

// lateResync returns a core and a handler with Latest delivery whose resync is due. The handler has
// handled b and is in the call of c, and an update of a still waits.
func lateResync(t *testing.T) (*testCore, *rig.Gated) {
	f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
	h := rig.NewGated()
	f.register(h, informer.HandlerOptions{Delivery: informer.Latest, Resync: time.Minute})
	f.start()
	f.list("1", kit.Pod("a", "1"), kit.Pod("b", "1"), kit.Pod("c", "1"))
	synctest.Wait()
	for range 3 {
		h.Pass()
	}
	require.Len(t, h.Take(), 3)
	f.apply(deltaOf(deltafifo.Modified, kit.Pod("b", "2")), deltaOf(deltafifo.Modified, kit.Pod("c", "2")), deltaOf(deltafifo.Modified, kit.Pod("a", "2")))
	time.Sleep(time.Minute)
	h.Pass()
	require.Equal(t, []string{"update b@1 b@2", "update c@1 c@2"}, h.Take())
	return f, h
}

// stuckInB returns a core and a handler with Latest delivery that has handled a@1 and is stuck in
// an update of b.
func stuckInB(t *testing.T) (*testCore, *rig.Gated) {
	f, h := newTestCore(t, informer.Options[*corev1.Pod]{}, 1), rig.NewGated()
	f.register(h, informer.HandlerOptions{Delivery: informer.Latest, Resync: time.Hour})
	f.start()
	f.list("1", kit.Pod("a", "1"), kit.Pod("b", "1"))
	synctest.Wait()
	h.Pass()
	h.Pass()
	f.apply(deltaOf(deltafifo.Modified, kit.Pod("b", "2")))
	require.Len(t, h.Take(), 3)
	return f, h
}

// An object is replaced by another object of the same name, comes back and is deleted, while the
// handler is stuck. The handler gets one delete, with the object's final state.
func TestLatestDeliversTheDeleteOfARecreatedObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := stuckInB(t)
		f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "3", kit.UID("other"))))
		f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "4")))
		f.apply(deltaOf(deltafifo.Deleted, kit.Pod("a", "5")))
		h.Open()
		require.Equal(t, []string{"delete a@5"}, h.Take(), "its final state is known")
	})
}

// An object is deleted during a resync, Status is read, and the object comes back. The handler gets
// one update, from the version that it has seen last.
func TestLatestDeliversWhatWasSeenAfterAResyncAndAStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := stuckInB(t)
		defer h.Open()
		h.Pass()
		time.Sleep(time.Hour)
		require.Len(t, h.Take(), 1, "the resync has begun, and the handler is stuck in its first call")
		f.apply(deltaOf(deltafifo.Modified, kit.Pod("b", "3")))
		f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "4")), deltaOf(deltafifo.Deleted, kit.Pod("a", "5")))
		synctest.Wait()
		f.Status()
		for range 2 { // until the handler gets the update of b
			h.Pass()
			if lines := h.Take(); lines[len(lines)-1] == "update b@2 b@3" {
				break
			}
		}
		f.apply(deltaOf(deltafifo.Added, kit.Pod("a", "6")))
		h.Pass()
		require.Equal(t, []string{"update a@1 a@6"}, h.Take())
	})
}
