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

// The publisher shows events first and wakes sleepers then. A handler that is
// still awake may read them, and go to sleep, in between: the others have not
// read them yet, though they sleep.
func TestEventsAreKeptForAHandlerThatIsYetToBeWoken(t *testing.T) {
	f := newFed(t, Options[*corev1.Pod]{}, 1)
	slow, quick := &journal{}, &journal{}
	r1, r2 := f.joins(slow, HandlerOptions{}), f.joins(quick, HandlerOptions{})
	f.list("1", kit.Pod("a", "1"))
	for _, r := range []*registration{r1, r2} { // no goroutines: the test takes their steps
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

// deliver tells a handler all there is, on the test's goroutine.
func (f *fed) deliver(r *registration) {
	for r.deliver(f.t.Context(), f.run) {
		continue
	}
}

// A handler that finds nothing to do and one that publishes, at the same time.
func TestNoWakeIsLost(t *testing.T) {
	f := newFed(t, Options[*corev1.Pod]{}, 1)
	var told atomic.Int64
	f.joins(HandlerFunc[*corev1.Pod](func(Change[*corev1.Pod]) { told.Add(1) }), HandlerOptions{})
	f.start()
	f.list("1", kit.Pod("a", "1"))
	deadline := time.Now().Add(time.Second)
	for n := int64(1); time.Now().Before(deadline); n++ {
		for since := time.Now(); told.Load() < n; {
			runtime.Gosched()
			require.Less(t, time.Since(since), 3*time.Second, "event %d is published, and its handler sleeps", n)
		}
		for range n % 257 { // so as to meet the handler at every point of its way to sleep
			told.Load()
		}
		f.apply(does(deltafifo.Modified, kit.Pod("a", fmt.Sprint(n))))
	}
}
