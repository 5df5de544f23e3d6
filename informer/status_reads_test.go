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

// Backlog and Status can be called while a handler is about to park. The race detector finds a data
// race between them.
func TestAskingDoesNotRaceWithAHandlerThatGoesToSleep(t *testing.T) {
	for _, delivery := range deliveries {
		for what, ask := range map[string]func(*testCore, *registration){
			"Backlog": func(_ *testCore, r *registration) { r.Backlog() },
			"Status":  func(f *testCore, _ *registration) { f.Status() }, // locks more, which hides a race
		} {
			t.Run(what, func(t *testing.T) {
				f := newTestCore(t, Options[*corev1.Pod]{}, 1)
				r := f.register(HandlerFunc[*corev1.Pod](forget[*corev1.Pod]), HandlerOptions{Delivery: delivery})
				gate := make(chan struct{}) // another handler never parks: the last to park locks
				stuck := f.register(ticketed(gate), HandlerOptions{})
				f.start()
				f.list("1", kit.Pod("a", "1"))
				over := make(chan struct{})
				var asking sync.WaitGroup
				asking.Go(func() {
					for !kit.Closed(over) {
						ask(f, r)
						runtime.Gosched()
					}
				})
				for n := range 2000 {
					f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", fmt.Sprint(n+2))))
					for range 20 { // lets the handler park; a lock would hide a race
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
			i := New(sourceOf(s), o)
			r, err := i.Handle(&told{}, HandlerOptions{Delivery: Latest, Resync: time.Millisecond})
			require.NoError(t, err)
			_, err = i.Start(t.Context()) // it ends before the cleanup of the test
			require.NoError(t, err)
			eventually(t, func() bool { return i.Status().Watching && kit.Closed(r.Synced()) }, "it runs")
			var others sync.WaitGroup
			defer others.Wait()
			defer close(stuck.gate)
			others.Go(moment(s, i, stuck))
			<-stuck.entered
			others.Go(func() { _, _ = i.Handle(&told{}, HandlerOptions{}) })
			time.Sleep(10 * time.Millisecond) // lets Handle block
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

// Status does not wait for a stuck index function of an index that is being added.
func TestStatusDoesNotWaitForIndexFunctions(t *testing.T) {
	stuck := newStuckIndex("a")
	i := New(sourceOf(newScript("10", kit.Pod("a", "1"))), Options[*corev1.Pod]{Observe: observed})
	ctx, cancel := context.WithCancel(t.Context())
	wait, err := i.Start(ctx)
	require.NoError(t, err)
	defer func() { require.NoError(t, wait()) }()
	defer cancel()
	require.NoError(t, i.WaitSynced(t.Context()))
	var others sync.WaitGroup
	defer others.Wait()
	defer close(stuck.gate)
	others.Go(func() { _ = i.AddIndexes(stuck.index()) })
	<-stuck.entered
	inTime(t, "Status", func() { i.Status() })
}

// WaitDelivered returns while an index function is stuck, and with a context that has ended: all is delivered.
func TestWaitDeliveredBehindAStuckIndexFunction(t *testing.T) {
	stuck := newStuckIndex("a")
	i := New(sourceOf(newScript("10", kit.Pod("a", "1"))), Options[*corev1.Pod]{Observe: observed})
	run, cancel := context.WithCancel(t.Context())
	wait, err := i.Start(run)
	require.NoError(t, err)
	defer func() { require.NoError(t, wait()) }()
	defer cancel()
	require.NoError(t, i.WaitSynced(t.Context()))
	var others sync.WaitGroup
	defer others.Wait()
	defer close(stuck.gate)
	others.Go(func() { _ = i.AddIndexes(stuck.index()) })
	<-stuck.entered
	ctx, end := context.WithCancel(t.Context())
	end()
	inTime(t, "WaitDelivered", func() { require.NoError(t, i.WaitDelivered(ctx, "10")) })
}
