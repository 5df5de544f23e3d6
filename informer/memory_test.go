package informer

import (
	"fmt"
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// ghosts are weak pointers to objects that should become garbage.
type ghosts []weak.Pointer[corev1.Pod]

func (g *ghosts) watch(p *corev1.Pod) *corev1.Pod {
	*g = append(*g, weak.Make(p))
	return p
}

// left returns how many of the objects are still in memory after some garbage collections.
func (g *ghosts) left() (n int) {
	for range 20 {
		runtime.GC()
		n = 0
		for _, p := range *g {
			if p.Value() != nil {
				n++
			}
		}
		if n == 0 {
			return 0
		}
		time.Sleep(time.Millisecond)
	}
	return n
}

// churn updates pod a n times and returns all of its versions but the last.
func (f *testCore) churn(n int) (old ghosts) {
	for i := range n {
		f.apply(deltaOf(deltafifo.Modified, old.watch(kit.Pod("a", fmt.Sprint(100+i)))))
	}
	return old[:n-1]
}

func (f *testCore) settled(rs ...*registration) {
	eventually(f.t, func() bool {
		for _, r := range rs {
			if r.Backlog() > 0 {
				return false
			}
		}
		return true
	}, "all handlers have read all there is")
}

func forget[T any](Change[T]) {}

func TestALogThatAllHaveReadHoldsNoObjects(t *testing.T) {
	for _, delivery := range deliveries {
		f := newTestCore(t, Options[*corev1.Pod]{}, 1)
		h := HandlerFunc[*corev1.Pod](forget[*corev1.Pod])
		r1, r2 := f.register(h, HandlerOptions{Delivery: delivery}), f.register(h, HandlerOptions{})
		f.start()
		var initial ghosts
		f.list("1", initial.watch(kit.Pod("a", "1")))
		f.settled(r1, r2)
		for _, n := range []int{3, 8, 700, 2000} {
			old := f.churn(n)
			f.settled(r1, r2)
			require.Zero(t, old.left(), "of %d versions", n)
		}
		require.Zero(t, initial.left(), "the initial state")
	}
}

func TestAHandlerThatLeftHoldsNothing(t *testing.T) {
	for _, delivery := range deliveries {
		f := newTestCore(t, Options[*corev1.Pod]{}, 1)
		h := HandlerFunc[*corev1.Pod](forget[*corev1.Pod])
		stays, leaves := f.register(h, HandlerOptions{}), f.register(h, HandlerOptions{Delivery: delivery})
		f.start()
		f.list("1", kit.Pod("a", "1"))
		f.settled(stays, leaves)
		leaves.Stop()
		<-leaves.Done()
		old := f.churn(2000)
		f.settled(stays)
		require.Zero(t, old.left())
		require.Zero(t, leaves.Backlog(), "nothing waits for it")
		runtime.KeepAlive(leaves)
	}
}

func TestAnInformerWithoutHandlersHoldsNoOldObjects(t *testing.T) {
	f := newTestCore(t, Options[*corev1.Pod]{}, 1)
	f.start()
	f.list("1", kit.Pod("a", "1"))
	old := f.churn(2000)
	require.Zero(t, old.left())
}

// A stuck handler with Latest delivery keeps a bounded number of old versions in memory, wherever
// it is stuck.
func TestAHandlerWithLatestThatIsStuckPinsNoLog(t *testing.T) {
	for _, at := range []string{"an event", "the initial state"} {
		t.Run(at, func(t *testing.T) {
			f := newTestCore(t, Options[*corev1.Pod]{}, 1)
			gate, entered := make(chan struct{}), make(chan struct{}, 1<<16)
			f.register(HandlerFunc[*corev1.Pod](func(Change[*corev1.Pod]) {
				entered <- struct{}{}
				<-gate
			}), HandlerOptions{Delivery: Latest})
			f.start()
			f.list("1", kit.Pod("a", "1"))
			<-entered
			if at == "an event" {
				gate <- struct{}{}
				f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "2")))
				<-entered
			}
			defer close(gate)
			old := f.churn(10_000)
			require.LessOrEqual(t, old.left(), behindLimit+2*256)
		})
	}
}
