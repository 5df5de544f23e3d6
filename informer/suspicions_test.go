package informer

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// A list ends Status.NotServedSince, even without reflector.Served.
func TestNotServedSinceEndsWithAList(t *testing.T) {
	bubble(t, func(t *testing.T) {
		i := New(newScript("10"), Options[*corev1.Pod]{Observe: observed})
		i.core.status.reflected(0, reflector.NotServed{Err: reflector.ErrNotServed})
		require.False(t, i.Status().NotServedSince.IsZero())
		i.core.status.reflected(0, reflector.Listed{})
		require.True(t, i.Status().NotServedSince.IsZero())
	})
}

// An audit reads the fences between two write sections, while the processLoop begins a replacement outside of one.
func TestFencesMayBeReadWhileAListBegins(t *testing.T) {
	f := newTestCore(t, Options[*corev1.Pod]{}, 1)
	f.list("1", kit.Pod("a", "1"))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 100 {
			f.writer.Freeze(func(*indexer.Tx) {
				for range f.states[0].fences.All() {
					t.Error("there is no own write")
				}
			})
		}
	}()
	for n := range 100 {
		f.list(strconv.Itoa(n+2), kit.Pod("a", "1"))
	}
	<-done
}
