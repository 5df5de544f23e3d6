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
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

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
