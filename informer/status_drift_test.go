package informer

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/informer/internal/engine"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// A list without changes does not move Status.LastEvent, but it confirms that the server is there.
func TestLastEventIsTheLastChange(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScript("10")
		i, _ := startWithJournal(t, s, Options[*corev1.Pod]{})
		require.Zero(t, i.Status().LastEvent, "the first list is empty")
		relists := func(version string, pods ...*corev1.Pod) Status {
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
	bubble(t, func(t *testing.T) {
		i, h := New(sourceOf(newScript("10", kit.Pod("a", "1"))), Options[*corev1.Pod]{Observe: observed}), newGated()
		_, err := i.Handle(h, HandlerOptions{})
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
		h.open()
		require.NoError(t, <-returned)
		require.False(t, i.Status().Running)
	})
}

// halfSource is a source that answers the first page of a list, and never the second.
type halfSource struct{ *script }

func (h *halfSource) List(ctx context.Context, o metav1.ListOptions) (apiruntime.Object, error) {
	if o.Continue != "" {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	list, err := h.script.List(ctx, o)
	if err == nil {
		list.(*corev1.PodList).Continue = "more"
	}
	return list, err
}

// A run that ends in the middle of a list keeps none of the list's objects.
func TestNothingOfHalfAStateIsKept(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var half ghosts
		i := New[*corev1.Pod](sourceOf(&halfSource{newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))}), Options[*corev1.Pod]{
			PageSize: 2, Observe: observed,
			Transform: func(p *corev1.Pod) (*corev1.Pod, error) { return half.watch(p), nil },
		})
		cancel, wait := starts(t, i)
		require.Len(t, half, 2)
		require.True(t, engine.Inside{Core: i.core}.Staging())
		cancel()
		wait()
		require.False(t, engine.Inside{Core: i.core}.Staging())
		require.Zero(t, half.left())
		require.Zero(t, i.Status().Objects)
		runtime.KeepAlive(i)
	})
}
