package informer

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// A publisher first publishes events and then wakes parked handlers. If a handler that is awake
// reads the events and parks in between, the log still keeps them for the parked handlers.
func TestEventsAreKeptForAHandlerThatIsYetToBeWoken(t *testing.T) {
	f := newTestCore(t, Options[*corev1.Pod]{}, 1)
	slow, quick := &journal{}, &journal{}
	r1, r2 := f.register(slow, HandlerOptions{}), f.register(quick, HandlerOptions{})
	f.list("1", kit.Pod("a", "1"))
	for _, r := range []*registration{r1, r2} { // without goroutines: the test takes their steps
		r.life = delivering
		f.deliver(r)
	}
	require.True(t, f.processor.park(r1), "r1 sleeps")

	f.processor.log.Append(eventlog.Event{
		Pair: eventlog.Pair{Old: kit.Pod("a", "1"), New: kit.Pod("a", "2")}, Header: eventlog.Header{Kind: eventlog.Updated},
	})
	f.processor.log.Publish() // as sharedProcessor.publish does, before it wakes
	f.deliver(r2)
	require.True(t, f.processor.park(r2), "r2, which was awake, has read it and sleeps")
	f.processor.wakeAll()
	f.deliver(r1)
	require.Equal(t, []string{"initial a@1", "update a@1 a@2"}, slow.lines)
}

// deliver makes all calls that are due of a handler, on the test's goroutine.
func (f *testCore) deliver(r *registration) {
	for r.deliver(f.t.Context(), f.run) {
		r.publishProgress()
	}
}

// An event that is published while its handler is about to park still wakes the handler.
func TestNoWakeIsLost(t *testing.T) {
	f := newTestCore(t, Options[*corev1.Pod]{}, 1)
	var told atomic.Int64
	f.register(HandlerFunc[*corev1.Pod](func(Change[*corev1.Pod]) { told.Add(1) }), HandlerOptions{})
	f.start()
	f.list("1", kit.Pod("a", "1"))
	deadline := time.Now().Add(time.Second)
	for n := int64(1); time.Now().Before(deadline); n++ {
		for since := time.Now(); told.Load() < n; {
			runtime.Gosched()
			require.Less(t, time.Since(since), 3*time.Second, "event %d is published, and its handler sleeps", n)
		}
		for range n % 257 { // varies the moment of the next event
			told.Load()
		}
		f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", fmt.Sprint(n))))
	}
}
