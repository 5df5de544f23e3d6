package informer

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// looping ranges over an informer's changes on another goroutine. It returns a channel that is
// closed when the loop has ended.
func looping(ctx context.Context, i *Informer[*corev1.Pod], o HandlerOptions, body func(Change[*corev1.Pod]) bool) (ended <-chan struct{}) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for c := range i.Changes(ctx, o) {
			if !body(c) {
				break
			}
		}
	}()
	return done
}

func TestALoopOverChanges(t *testing.T) {
	for name, delivery := range map[string]Delivery{"every": Every, "latest": Latest} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := newScript("5", kit.Pod("a", "1"))
				i := New(s, Options[*corev1.Pod]{Observe: observed})
				var lines []string
				ended := looping(t.Context(), i, HandlerOptions{Delivery: delivery}, func(c Change[*corev1.Pod]) bool {
					lines = append(lines, line(c))
					return c.Kind != Deleted
				})
				synctest.Wait()
				require.Empty(t, lines, "it waits for the informer to run")
				stop := start(t, i)
				synctest.Wait()
				s.Send(watch.Modified, kit.Pod("a", "6"))
				synctest.Wait()
				require.Len(t, i.Status().Handlers, 1)
				s.Send(watch.Deleted, kit.Pod("a", "7"))
				<-ended
				require.Equal(t, []string{"initial a@1", "update a@1 a@6", "delete a@7"}, lines)
				require.Empty(t, i.Status().Handlers, "break ends the registration")
				stop()
			})
		})
	}
}

// A loop ends with its context and with the informer. If the informer has stopped or the options
// are invalid, the loop yields nothing, and Observe gets the error.
func TestTheEndsOfALoop(t *testing.T) {
	bubble(t, func(t *testing.T) {
		i := New(newScript("5", kit.Pod("a", "1")), Options[*corev1.Pod]{Observe: observed})
		ctx, cancel := context.WithCancel(t.Context())
		waits := looping(ctx, i, HandlerOptions{}, func(Change[*corev1.Pod]) bool { return true })
		synctest.Wait()
		cancel()
		<-waits

		asleep := looping(t.Context(), i, HandlerOptions{}, func(Change[*corev1.Pod]) bool { return true })
		synctest.Wait()
		start(t, i)()
		<-asleep
		require.Empty(t, i.Status().Handlers)

		var told []Event
		i.core.options.Observe = func(e Event) { told = append(told, e) }
		for range i.Changes(t.Context(), HandlerOptions{}) {
			t.Error("the informer has stopped")
		}
		for range i.Changes(t.Context(), HandlerOptions{Delivery: 7}) {
			t.Error("its options are wrong")
		}
		require.Len(t, told, 2)
		require.ErrorIs(t, told[0].(error), ErrStopped)
		require.ErrorIs(t, told[1].(error), ErrNegative)
	})
}

func TestRunWaitsForTheBodyOfALoop(t *testing.T) {
	bubble(t, func(t *testing.T) {
		i := New(newScript("5", kit.Pod("a", "1"), kit.Pod("b", "1")), Options[*corev1.Pod]{Observe: observed})
		gate, calls := make(chan struct{}), 0
		ended := looping(t.Context(), i, HandlerOptions{}, func(Change[*corev1.Pod]) bool {
			calls++
			<-gate
			return true
		})
		ctx, cancel := context.WithCancel(t.Context())
		wait, err := i.Start(ctx)
		require.NoError(t, err)
		synctest.Wait()
		cancel()
		synctest.Wait()
		require.True(t, i.Status().Stopped)
		require.True(t, i.Status().Running, "Run has not returned")
		close(gate)
		<-ended
		require.NoError(t, wait())
		require.Equal(t, 1, calls, "what is left is dropped")
		require.False(t, i.Status().Running)
	})
}

// A panic or Goexit in a loop's body passes through to the caller, and the loop's handler does not
// stay registered.
func TestALoopWhoseBodyFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		i := New(newScript("5", kit.Pod("a", "1")), Options[*corev1.Pod]{Observe: observed})
		stop := start(t, i)
		require.PanicsWithValue(t, "of the body", func() {
			for range i.Changes(t.Context(), HandlerOptions{}) {
				panic("of the body")
			}
		})
		require.False(t, apart(func() {
			for range i.Changes(t.Context(), HandlerOptions{}) {
				runtime.Goexit()
			}
		}))
		require.Empty(t, i.Status().Handlers)
		stop()
	})
}
