package informer_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

// A list without changes does not move Status.LastEvent, but it confirms that the server is there.
func TestLastEventIsTheLastChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("10")
		i, _ := rig.StartWithJournal(t, s, informer.Options[*corev1.Pod]{})
		require.Zero(t, i.Status().LastEvent, "the first list is empty")
		relists := func(version string, pods ...*corev1.Pod) informer.Status {
			time.Sleep(3 * time.Minute) // so that no back-off is left
			s.Set(version, pods...)
			s.Expire()
			synctest.Wait()
			st := i.Status()
			require.Equal(t, time.Now(), st.Confirmed)
			require.Zero(t, st.Staleness)
			return st
		}
		require.Equal(t, relists("20", kit.Pod("a", "11")).LastEvent, time.Now(), "an add")
		last := time.Now()
		require.Equal(t, relists("30", kit.Pod("a", "11")).LastEvent, last, "nothing")
		require.Equal(t, relists("40", kit.Pod("a", "31")).LastEvent, time.Now(), "an update")
		require.Equal(t, relists("50").LastEvent, time.Now(), "a delete")
		last = time.Now()
		require.Equal(t, relists("60").LastEvent, last, "nothing again")
		time.Sleep(time.Minute)
		s.Send(watch.Added, kit.Pod("a", "61"))
		synctest.Wait()
		require.Equal(t, time.Now(), i.Status().LastEvent)
	})
}

func TestRunningIsTrueUntilRunHasReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i, h := informer.New(rig.SourceOf(rig.NewScript("10", kit.Pod("a", "1"))), informer.Options[*corev1.Pod]{Observe: rig.Observed}), rig.NewGated()
		_, err := i.Handle(h, informer.HandlerOptions{})
		require.NoError(t, err)
		require.False(t, i.Status().Running)
		ctx, cancel := context.WithCancel(t.Context())
		returned := make(chan error, 1)
		go func() { returned <- i.Run(ctx) }()
		synctest.Wait()
		require.True(t, i.Status().Running)
		cancel()
		time.Sleep(time.Second)
		require.Empty(t, returned, "it waits for the handler")
		st := i.Status()
		require.True(t, st.Stopped)
		require.True(t, st.Running, "Run has not returned")
		h.Open()
		require.NoError(t, <-returned)
		require.False(t, i.Status().Running)
	})
}

// stuckIndex is an index function that blocks on one object until the test closes its gate.
type stuckIndex struct {
	name          string
	entered, gate chan struct{}
	once          sync.Once
}

func newStuckIndex(name string) *stuckIndex {
	return &stuckIndex{name: name, entered: make(chan struct{}), gate: make(chan struct{})}
}

func (s *stuckIndex) index() indexer.Index[*corev1.Pod] {
	return indexer.Index[*corev1.Pod]{Name: "stuck", Append: func(values []string, p *corev1.Pod) []string {
		if p.Name == s.name {
			s.once.Do(func() { close(s.entered) })
			<-s.gate
		}
		return values
	}}
}

// inTime fails the test if a function does not return within five seconds.
func inTime(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		require.Fail(t, "it waits", "%s", what)
	}
}

// Backlog, Done and Stop do not wait for an index function, whether it runs for a change or for
// AddIndexes. They do not wait for a blocked call of Handle either.
func TestAskingDoesNotWaitForIndexFunctions(t *testing.T) {
	moments := map[string]func(s *rig.Script, i *informer.Informer[*corev1.Pod], stuck *stuckIndex) (is func()){
		"in a change": func(s *rig.Script, i *informer.Informer[*corev1.Pod], stuck *stuckIndex) func() {
			return func() { s.Send(watch.Added, kit.Pod(stuck.name, "11")) }
		},
		"in AddIndexes": func(_ *rig.Script, i *informer.Informer[*corev1.Pod], stuck *stuckIndex) func() {
			return func() { _ = i.AddIndexes(stuck.index()) }
		},
	}
	for when, moment := range moments {
		t.Run(when, func(t *testing.T) {
			s, stuck := rig.NewScript("10", kit.Pod("a", "1")), newStuckIndex("a")
			o := informer.Options[*corev1.Pod]{Observe: rig.Observed}
			if when == "in a change" {
				stuck = newStuckIndex("b")
				o.Indexes = []indexer.Index[*corev1.Pod]{stuck.index()}
			}
			i := informer.New(rig.SourceOf(s), o)
			r, err := i.Handle(rig.Idle{}, informer.HandlerOptions{Delivery: informer.Latest, Resync: time.Millisecond})
			require.NoError(t, err)
			_, err = i.Start(t.Context()) // it ends before the cleanup of the test
			require.NoError(t, err)
			rig.Eventually(t, func() bool { return i.Status().Watching && kit.Closed(r.Synced()) }, "it runs")
			var others sync.WaitGroup
			defer others.Wait()
			defer close(stuck.gate)
			others.Go(moment(s, i, stuck))
			<-stuck.entered
			others.Go(func() { _, _ = i.Handle(rig.Idle{}, informer.HandlerOptions{}) })
			time.Sleep(10 * time.Millisecond) // lets Handle block
			inTime(t, "Backlog", func() { r.Backlog() })
			inTime(t, "Done", func() { i.Done() })
			inTime(t, "Registration.Done", func() { r.Done() })
			inTime(t, "Stop", r.Stop)
		})
	}
}

// addingAStuckIndex returns an informer that adds an index whose function is stuck until the test ends.
func addingAStuckIndex(t *testing.T) *informer.Informer[*corev1.Pod] {
	stuck := newStuckIndex("a")
	i := informer.New(rig.SourceOf(rig.NewScript("10", kit.Pod("a", "1"))), informer.Options[*corev1.Pod]{Observe: rig.Observed})
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	wait, err := i.Start(ctx)
	require.NoError(t, err)
	t.Cleanup(func() {
		cancel()
		require.NoError(t, wait())
	})
	require.NoError(t, i.WaitSynced(t.Context()))
	var others sync.WaitGroup
	others.Go(func() { _ = i.AddIndexes(stuck.index()) })
	t.Cleanup(func() {
		close(stuck.gate)
		others.Wait()
	})
	<-stuck.entered
	return i
}

// Status does not wait for a stuck index function of an index that is being added.
func TestStatusDoesNotWaitForIndexFunctions(t *testing.T) {
	i := addingAStuckIndex(t)
	inTime(t, "Status", func() { i.Status() })
}

// WaitDelivered returns while an index function is stuck, and with a context that has ended: all is delivered.
func TestWaitDeliveredWithAStuckIndexFunction(t *testing.T) {
	i := addingAStuckIndex(t)
	ctx, end := context.WithCancel(t.Context())
	end()
	inTime(t, "WaitDelivered", func() { require.NoError(t, i.WaitDelivered(ctx, "10")) })
}
