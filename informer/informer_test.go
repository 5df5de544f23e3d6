package informer

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// journal is a handler that records its changes, one line per change.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) Handle(c Change[*corev1.Pod]) {
	j.mu.Lock()
	defer j.mu.Unlock()

	j.lines = append(j.lines, line(c))
}

func line(c Change[*corev1.Pod]) string {
	side := func(p *corev1.Pod) string {
		if p == nil {
			return "nil"
		}
		return p.Name + "@" + p.ResourceVersion
	}
	switch {
	case c.Kind == Added && c.Initial:
		return "initial " + side(c.New)
	case c.Kind == Added:
		return "add " + side(c.New)
	case c.Kind == Deleted && c.Lost:
		return "lost " + side(c.Old)
	case c.Kind == Deleted:
		return "delete " + side(c.Old)
	}
	return fmt.Sprintf("update %s %s", side(c.Old), side(c.New))
}

// take returns the lines recorded since the previous take.
func (j *journal) take() []string {
	synctest.Wait()
	j.mu.Lock()
	defer j.mu.Unlock()

	lines := j.lines
	j.lines = nil
	return lines
}

// start runs an informer, in a synctest bubble, until stop is called or the test ends.
func start[T Object](t *testing.T, i *Informer[T]) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- i.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	t.Cleanup(stop)
	synctest.Wait()
	return stop
}

func observed(Event) {}

func TestAnInformerFromListToHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))
		i := New(sourceOf(s), Options[*corev1.Pod]{Observe: observed})
		early := &journal{}
		reg, err := i.Handle(early, HandlerOptions{})
		require.NoError(t, err)
		start(t, i)
		require.NoError(t, i.WaitSynced(t.Context()))
		require.ElementsMatch(t, []string{"initial a@1", "initial b@2"}, early.take())
		<-reg.Synced()

		s.Send(watch.Modified, kit.Pod("a", "11"))
		s.Send(watch.Added, kit.Pod("c", "12"))
		s.Send(watch.Deleted, kit.Pod("b", "13"))
		require.Equal(t, []string{"update a@1 a@11", "add c@12", "delete b@13"}, early.take())
		require.Equal(t, "13", i.Indexer().Version())
		require.NoError(t, i.WaitDelivered(t.Context(), "13"))

		late := &journal{}
		_, err = i.Handle(late, HandlerOptions{})
		require.NoError(t, err)
		require.ElementsMatch(t, []string{"initial a@11", "initial c@12"}, late.take())

		s.Set("20", kit.Pod("c", "12"), kit.Pod("d", "15"), kit.Pod("a", "16"))
		s.Expire()
		want := []string{"add d@15", "update a@11 a@16"}
		require.Equal(t, want, early.take(), "nothing of what did not change")
		require.Equal(t, want, late.take())

		s.Set("30", kit.Pod("d", "15"))
		s.Expire()
		synctest.Wait()
		got, ok := i.Indexer().Get(indexer.Key{Namespace: "default", Name: "d"})
		require.True(t, ok)
		require.Equal(t, "15", got.ResourceVersion)
		st := i.Status()
		require.True(t, st.Synced && st.Running)
		require.Equal(t, 0, st.Quarantined)
	})
}
