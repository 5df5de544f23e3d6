package informer

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// Whoever asks how a handler is doing meets it at every point of its way to sleep. The
// race detector finds who writes.
func TestAskingDoesNotRaceWithAHandlerThatGoesToSleep(t *testing.T) {
	for _, delivery := range deliveries {
		for what, ask := range map[string]func(*fed, *registration){
			"Backlog": func(_ *fed, r *registration) { r.Backlog() },
			"Status":  func(f *fed, _ *registration) { f.Status() }, // locks more, which hides a race
		} {
			t.Run(what, func(t *testing.T) {
				f := newFed(t, Options[*corev1.Pod]{}, 1)
				r := f.joins(HandlerFunc[*corev1.Pod](forget[*corev1.Pod]), HandlerOptions{Delivery: delivery})
				gate := make(chan struct{}) // another one never sleeps: who is the last to sleep locks more
				stuck := f.joins(ticketed(gate), HandlerOptions{})
				f.start()
				f.list("1", kit.Pod("a", "1"))
				over := make(chan struct{})
				var asking sync.WaitGroup
				asking.Go(func() {
					for !closed(over) {
						ask(f, r)
						runtime.Gosched()
					}
				})
				for n := range 2000 {
					f.apply(does(deltafifo.Modified, kit.Pod("a", fmt.Sprint(n+2))))
					for range 20 { // so that it goes to sleep; a lock would hide the race
						runtime.Gosched()
					}
				}
				close(gate)
				f.settled(r, stuck)
				close(over)
				asking.Wait()
			})
		}
	}
}

// stuckIndex is an index function that does not return for one object until the test
// lets it.
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

// inTime calls a function that must not wait for anybody.
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

// Nobody who asks waits for an index function, whether it is called for a change or
// for an index that is added; nor behind a handler that joins meanwhile, and waits.
func TestAskingDoesNotWaitForIndexFunctions(t *testing.T) {
	moments := map[string]func(s *script, i *Informer[*corev1.Pod], stuck *stuckIndex) (is func()){
		"in a change": func(s *script, i *Informer[*corev1.Pod], stuck *stuckIndex) func() {
			return func() { s.Send(watch.Added, kit.Pod(stuck.name, "11")) }
		},
		"in AddIndexes": func(_ *script, i *Informer[*corev1.Pod], stuck *stuckIndex) func() {
			return func() { _ = i.AddIndexes(stuck.index()) }
		},
	}
	for when, moment := range moments {
		t.Run(when, func(t *testing.T) {
			s, stuck := newScript("10", kit.Pod("a", "1")), newStuckIndex("a")
			o := Options[*corev1.Pod]{Observe: observed}
			if when == "in a change" {
				stuck = newStuckIndex("b")
				o.Indexes = []indexer.Index[*corev1.Pod]{stuck.index()}
			}
			i := New(s, o)
			r, err := i.Handle(&told{}, HandlerOptions{Delivery: Latest, Resync: time.Millisecond})
			require.NoError(t, err)
			wait, err := i.Start(t.Context())
			require.NoError(t, err)
			_ = wait
			eventually(t, func() bool { return i.Status().Watching && closed(r.Synced()) }, "it runs")
			var others sync.WaitGroup
			defer others.Wait()
			defer close(stuck.gate)
			others.Go(moment(s, i, stuck))
			<-stuck.entered
			others.Go(func() { _, _ = i.Handle(&told{}, HandlerOptions{}) })
			time.Sleep(10 * time.Millisecond) // so that it may wait
			inTime(t, "Backlog", func() { r.Backlog() })
			inTime(t, "Done", func() { i.Done() })
			inTime(t, "Registration.Done", func() { r.Done() })
			inTime(t, "Stop", r.Stop)
		})
	}
}

// told is a handler that does nothing.
type told struct{}

func (*told) Handle(Change[*corev1.Pod]) {}

// An index function that is stuck, or many objects that a new index looks at, hold up
// nobody who asks how the informer is doing.
func TestStatusDoesNotWaitForIndexFunctions(t *testing.T) {
	stuck := newStuckIndex("a")
	i := New(newScript("10", kit.Pod("a", "1")), Options[*corev1.Pod]{Observe: observed})
	ctx, cancel := context.WithCancel(t.Context())
	wait, err := i.Start(ctx)
	require.NoError(t, err)
	defer wait()
	defer cancel()
	require.NoError(t, i.WaitSynced(t.Context()))
	var others sync.WaitGroup
	defer others.Wait()
	defer close(stuck.gate)
	others.Go(func() { _ = i.AddIndexes(stuck.index()) })
	<-stuck.entered
	inTime(t, "Status", func() { i.Status() })
}

// Every wait ends with its context, also behind an index function that is stuck.
func TestWaitDeliveredEndsWithItsContextBehindAStuckIndexFunction(t *testing.T) {
	stuck := newStuckIndex("a")
	i := New(newScript("10", kit.Pod("a", "1")), Options[*corev1.Pod]{Observe: observed})
	run, cancel := context.WithCancel(t.Context())
	wait, err := i.Start(run)
	require.NoError(t, err)
	defer wait()
	defer cancel()
	require.NoError(t, i.WaitSynced(t.Context()))
	var others sync.WaitGroup
	defer others.Wait()
	defer close(stuck.gate)
	others.Go(func() { _ = i.AddIndexes(stuck.index()) })
	<-stuck.entered
	ctx, end := context.WithCancel(t.Context())
	end()
	inTime(t, "WaitDelivered", func() {
		if err := i.WaitDelivered(ctx, "10"); err != nil { // nil where it was delivered already
			require.ErrorIs(t, err, context.Canceled)
		}
	})
}
