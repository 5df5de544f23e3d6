package informer

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// gated is a journal whose calls wait at a gate before they return, until the gate is opened.
type gated struct {
	journal
	gate chan struct{}
}

func newGated() *gated { return &gated{gate: make(chan struct{})} }

func (g *gated) Handle(c Change[*corev1.Pod]) {
	g.journal.Handle(c)
	<-g.gate
}

// pass lets one call return.
func (g *gated) pass() {
	g.gate <- struct{}{}
	synctest.Wait()
}

func (g *gated) open() { close(g.gate) }

// D1: with Latest delivery, 20,000 updates of one object behind a stuck handler become one update.
func TestContract_D1_LatestMergesWhatAStuckHandlerHasNotSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTestCore(t, Options[*corev1.Pod]{}, 1)
		stuck, every := newGated(), &journal{}
		r := f.register(stuck, HandlerOptions{Delivery: Latest})
		f.register(every, HandlerOptions{})
		f.start()
		f.list("1", kit.Pod("a", "1"), kit.Pod("b", "1"))
		synctest.Wait()
		stuck.pass()
		stuck.pass()
		f.apply(deltaOf(deltafifo.Modified, kit.Pod("b", "2")))
		synctest.Wait()
		require.Len(t, stuck.take(), 3, "and it is stuck in the third")
		for n := range 20_000 {
			f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", fmt.Sprint(n+3))))
		}
		f.apply(deltaOf(deltafifo.Deleted, kit.Pod("b", "30000")), deltaOf(deltafifo.Added, kit.Pod("c", "30001")), deltaOf(deltafifo.Deleted, kit.Pod("c", "30002")))
		stuck.open()
		require.Equal(t, []string{"update a@1 a@20002", "delete b@30000"}, stuck.take())
		require.Zero(t, r.Backlog())
		require.Len(t, every.take(), 20_000+6, "lossless by default")
	})
}

func TestBacklogOfLatestIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTestCore(t, Options[*corev1.Pod]{}, 1)
		stuck := newGated()
		r := f.register(stuck, HandlerOptions{Delivery: Latest})
		f.start()
		f.list("1", kit.Pod("a", "1"))
		synctest.Wait()
		stuck.pass()
		for n := range 5000 {
			f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", fmt.Sprint(n+2))))
			synctest.Wait() // the handler is in the call of the first update
		}
		synctest.Wait()
		defer stuck.open()
		before := r.Backlog()
		require.LessOrEqual(t, before, behindLimit+256+2, "what is merged, what is not yet, and what the handler has in hand")
		require.Equal(t, before, r.Backlog(), "asking changes nothing")
	})
}

func TestBacklogCountsWhatFollowsTheInitialState(t *testing.T) {
	for _, delivery := range deliveries {
		synctest.Test(t, func(t *testing.T) {
			f := newTestCore(t, Options[*corev1.Pod]{}, 1)
			stuck := newGated()
			r := f.register(stuck, HandlerOptions{Delivery: delivery})
			f.start()
			f.list("1", kit.Pod("a", "1"), kit.Pod("b", "1"), kit.Pod("c", "1"))
			synctest.Wait()
			defer stuck.open()
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
		h.open()
		lines := h.take()
		require.Contains(t, lines, "delete a@9")
		after := lines[slices.Index(lines, "delete a@9")+1:]
		require.NotContains(t, after, "update a@2 a@2", "all: %v", lines)
	})
}

func TestAResyncOfLatestDoesNotGoBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := lateResync(t)
		f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "9")))
		h.open()
		last := ""
		for _, l := range h.take() {
			if l[len(l)-3:] == "a@9" || l[len(l)-3:] == "a@2" {
				last = l
			}
		}
		require.Contains(t, last, "a@9", "what it was told last of a")
	})
}

// Changes of other objects do not keep a handler with Latest delivery from its resync, and the
// resync does not keep it from the changes: they take turns.
func TestAResyncOfLatestEndsWhileOtherObjectsChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"), kit.Pod("c", "3"), kit.Pod("busy", "4"))
		i, h := New(sourceOf(s), Options[*corev1.Pod]{Observe: observed}), newGated()
		_, err := i.Handle(h, HandlerOptions{Delivery: Latest, Resync: time.Minute})
		require.NoError(t, err)
		start(t, i)
		for range 4 {
			h.pass()
		}
		h.take()
		change := func(n int) {
			s.Send(watch.Modified, kit.Pod("busy", fmt.Sprint(n)))
			synctest.Wait()
		}
		change(11)
		time.Sleep(time.Minute)
		for n := range 8 { // whenever a call ends, the next change is there already
			change(12 + n)
			h.pass()
		}
		lines := h.take()
		for _, quiet := range []string{"update a@1 a@1", "update b@2 b@2", "update c@3 c@3"} {
			require.Contains(t, lines, quiet)
		}
		require.Contains(t, lines, "update busy@11 busy@12", "between them")
		for n, l := range lines[1:7] { // the first was there before the resync
			require.Equal(t, n%2 == 0, strings.HasPrefix(l, "update busy"), "they take turns: %v", lines)
		}
		h.open()
	})
}

// lateResync returns a core and a handler with Latest delivery whose resync is due. The handler has
// handled b and is in the call of c, and an update of a still waits.
func lateResync(t *testing.T) (*testCore, *gated) {
	f := newTestCore(t, Options[*corev1.Pod]{}, 1)
	h := newGated()
	f.register(h, HandlerOptions{Delivery: Latest, Resync: time.Minute})
	f.start()
	f.list("1", kit.Pod("a", "1"), kit.Pod("b", "1"), kit.Pod("c", "1"))
	synctest.Wait()
	for range 3 {
		h.pass()
	}
	require.Len(t, h.take(), 3)
	f.apply(deltaOf(deltafifo.Modified, kit.Pod("b", "2")), deltaOf(deltafifo.Modified, kit.Pod("c", "2")), deltaOf(deltafifo.Modified, kit.Pod("a", "2")))
	time.Sleep(time.Minute)
	h.pass()
	require.Equal(t, []string{"update b@1 b@2", "update c@1 c@2"}, h.take())
	return f, h
}
