package engine_test

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

// An event that is published while its handler is about to park still wakes the handler.
func TestNoWakeIsLost(t *testing.T) {
	f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
	var recorded atomic.Int64
	f.register(informer.HandlerFunc[*corev1.Pod](func(informer.Change[*corev1.Pod]) { recorded.Add(1) }), informer.HandlerOptions{})
	f.start()
	f.list("1", kit.Pod("a", "1"))
	deadline := time.Now().Add(time.Second)
	for n := int64(1); time.Now().Before(deadline); n++ {
		for since := time.Now(); recorded.Load() < n; {
			runtime.Gosched()
			require.Less(t, time.Since(since), 3*time.Second, "event %d is published, and its handler sleeps", n)
		}
		for range n % 257 { // varies the moment of the next event
			recorded.Load()
		}
		f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", fmt.Sprint(n))))
	}
}

// Backlog and Status can be called while a handler is about to park. The race detector finds a data
// race between them.
func TestAskingDoesNotRaceWithAHandlerThatGoesToSleep(t *testing.T) {
	for _, delivery := range rig.Deliveries {
		for what, ask := range map[string]func(*testCore, informer.Registration){
			"Backlog": func(_ *testCore, r informer.Registration) { r.Backlog() },
			"Status":  func(f *testCore, _ informer.Registration) { f.Status() }, // locks more, which hides a race
		} {
			t.Run(what, func(t *testing.T) {
				f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
				r := f.register(rig.Idle{}, informer.HandlerOptions{Delivery: delivery})
				gate := make(chan struct{}) // another handler never parks: the last to park locks
				stuck := f.register(rig.Ticketed(gate), informer.HandlerOptions{})
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
