package informer_test

import (
	"fmt"
	"strings"
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

// D11: resyncs go on while the watch is down.
func TestContract_D11_ResyncsGoOnWhileTheWatchIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("10", kit.Pod("a", "1"))
		i, j := rig.StartWithJournal(t, s, informer.Options[*corev1.Pod]{Resync: 10 * time.Second})
		j.Take()
		s.Fail(rig.ErrPoison)
		s.Expire()
		time.Sleep(9 * time.Second)
		require.Empty(t, j.Take())
		time.Sleep(time.Second)
		require.Equal(t, []string{"update a@1 a@1"}, j.Take())
		require.False(t, i.Status().Watching)
		time.Sleep(30 * time.Second)
		require.Len(t, j.Take(), 3)
	})
}

// B76: only handlers whose period has passed are resynced, with an update from each object to
// itself.
func TestContract_B76_OnlyDueHandlersAreResynced(t *testing.T) {
	eachClientgoInformer(t, func(t *testing.T, create constructor) {
		i := create(rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2")), 10*time.Second, nil)
		byDefault, _ := addRecorder(t, i)
		never, slow := &kit.Recorder{}, &kit.Recorder{}
		_, err := i.AddEventHandlerWithResyncPeriod(never.Handler(), 0)
		require.NoError(t, err)
		_, err = i.AddEventHandlerWithResyncPeriod(slow.Handler(), 20*time.Second)
		require.NoError(t, err)
		startClientgo(t, i)
		for _, r := range []*kit.Recorder{byDefault, never, slow} {
			require.Len(t, r.Take(), 2)
		}
		time.Sleep(10 * time.Second)
		require.ElementsMatch(t, []string{"update a@1 a@1", "update b@2 b@2"}, byDefault.Take())
		require.Empty(t, slow.Take())
		time.Sleep(10 * time.Second)
		require.Len(t, slow.Take(), 2)
		require.Empty(t, never.Take())
	})
}

// B75, T12: a resync period is at least a second, and after the start at least the shortest period
// so far. An informer without resyncs has none for its handlers.
func TestContract_T12_ResyncPeriods(t *testing.T) {
	eachClientgoInformer(t, func(t *testing.T, create constructor) {
		asks := func(i cache.SharedIndexInformer, period time.Duration) time.Duration {
			reg, err := i.AddEventHandlerWithResyncPeriod((&kit.Recorder{}).Handler(), period)
			require.NoError(t, err)
			return informer.ResyncOf(reg)
		}
		none := create(rig.NewScript("1"), 0, nil)
		require.Zero(t, asks(none, time.Minute), "B75: the informer makes none")
		i := create(rig.NewScript("1"), time.Minute, nil)
		require.Equal(t, time.Second, asks(i, time.Millisecond), "at least a second")
		require.Equal(t, time.Second*5, asks(i, time.Second*5))
		require.Zero(t, asks(i, 0))
		require.Equal(t, time.Second, asks(i, -1), "none of its own: the shortest so far")
		require.Zero(t, asks(none, -1))
		i = create(rig.NewScript("1"), time.Minute, nil)
		require.Equal(t, 30*time.Second, asks(i, 30*time.Second))
		startClientgo(t, i)
		require.Equal(t, 30*time.Second, asks(i, time.Second), "after the start raised to the shortest so far")
		require.Equal(t, 30*time.Second, asks(i, -1))
		require.Equal(t, time.Hour, asks(i, time.Hour))
	})
}

func TestATypedInformerResyncsThroughClientgosAPI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := informer.New(rig.SourceOf(rig.NewScript("10", kit.Pod("a", "1"))), informer.Options[*corev1.Pod]{Resync: time.Minute}).Shared()
		r, _ := addRecorder(t, i)
		startClientgo(t, i)
		r.Take()
		time.Sleep(time.Minute)
		require.Equal(t, []string{"update a@1 a@1"}, r.Take())
	})
}

// A resync delivers one state of the store, between two events.
func TestAResyncIsOneMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
		i, h := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Observe: rig.Observed}), rig.NewGated()
		_, err := i.Handle(h, informer.HandlerOptions{Resync: time.Minute})
		require.NoError(t, err)
		rig.Start(t, i)
		h.Pass()
		h.Pass()
		h.Take()
		s.Send(watch.Modified, kit.Pod("a", "11"))
		synctest.Wait()
		s.Send(watch.Modified, kit.Pod("b", "12"))
		time.Sleep(3 * time.Minute) // three ticks; the handler is in the call of the first event
		h.Pass()
		require.Equal(t, []string{"update a@1 a@11", "update b@2 b@12"}, h.Take(), "what comes before the resync")
		s.Send(watch.Deleted, kit.Pod("a", "13"))
		h.Open()
		lines := h.Take()
		require.ElementsMatch(t, []string{"update a@11 a@11", "update b@12 b@12"}, lines[:2], "one tick is pending at most")
		require.Equal(t, []string{"delete a@13"}, lines[2:])
	})
}

func TestNoResyncBeforeTheInitialState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("10", kit.Pod("a", "1"))
		s.Fail(rig.ErrPoison)
		_, j := rig.StartWithJournal(t, s, informer.Options[*corev1.Pod]{Resync: time.Second})
		time.Sleep(5 * time.Second)
		require.Empty(t, j.Take())
		s.Fail(nil)
		time.Sleep(time.Minute)
		require.Equal(t, "initial a@1", j.Take()[0])
	})
}

// Changes of other objects do not keep a handler with Latest delivery from its resync, and the
// resync does not keep it from the changes: they take turns.
func TestAResyncOfLatestEndsWhileOtherObjectsChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"), kit.Pod("c", "3"), kit.Pod("busy", "4"))
		i, h := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Observe: rig.Observed}), rig.NewGated()
		_, err := i.Handle(h, informer.HandlerOptions{Delivery: informer.Latest, Resync: time.Minute})
		require.NoError(t, err)
		rig.Start(t, i)
		for range 4 {
			h.Pass()
		}
		h.Take()
		change := func(n int) {
			s.Send(watch.Modified, kit.Pod("busy", fmt.Sprint(n)))
			synctest.Wait()
		}
		change(11)
		time.Sleep(time.Minute)
		for n := range 8 { // whenever a call ends, the next change is there already
			change(12 + n)
			h.Pass()
		}
		lines := h.Take()
		for _, quiet := range []string{"update a@1 a@1", "update b@2 b@2", "update c@3 c@3"} {
			require.Contains(t, lines, quiet)
		}
		require.Contains(t, lines, "update busy@11 busy@12", "between them")
		for n, l := range lines[1:7] { // the first was there before the resync
			require.Equal(t, n%2 == 0, strings.HasPrefix(l, "update busy"), "they take turns: %v", lines)
		}
		h.Open()
	})
}

// A negative period opts a handler out of resyncs, and zero stands for the informer's period.
func TestAHandlerOptsOutOfResyncs(t *testing.T) {
	for _, delivery := range rig.Deliveries {
		synctest.Test(t, func(t *testing.T) {
			s := rig.NewScript("10", kit.Pod("a", "1"))
			i, j := rig.StartWithJournal(t, s, informer.Options[*corev1.Pod]{Resync: time.Minute})
			never := &rig.Journal{}
			_, err := i.Handle(never, informer.HandlerOptions{Delivery: delivery, Resync: -1})
			require.NoError(t, err)
			require.Equal(t, []string{"initial a@1"}, never.Take())
			require.Equal(t, []string{"initial a@1"}, j.Take())
			time.Sleep(time.Hour)
			require.Len(t, j.Take(), 60)
			require.Empty(t, never.Take())
			s.Send(watch.Modified, kit.Pod("a", "11"))
			require.Equal(t, []string{"update a@1 a@11"}, never.Take(), "a handler without resyncs still gets changes")
		})
	}
}
