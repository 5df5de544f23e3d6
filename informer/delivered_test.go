package informer

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// waiting calls WaitDelivered on another goroutine, and returns the channel of its result.
func waiting(ctx context.Context, i interface {
	WaitDelivered(context.Context, string) error
}, version string,
) <-chan error {
	result := make(chan error, 1)
	go func() { result <- i.WaitDelivered(ctx, version) }()
	return result
}

// pends fails the test if a result has been sent.
func pends(t *testing.T, result <-chan error) {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-result:
		require.Fail(t, "it has not waited", "%v", err)
	default:
	}
}

// ticketed is a handler that needs a token to return from a call.
func ticketed(tokens <-chan struct{}) Handler[*corev1.Pod] {
	return HandlerFunc[*corev1.Pod](func(Change[*corev1.Pod]) { <-tokens })
}

func TestWaitDeliveredWaitsForTheSlowestHandler(t *testing.T) {
	for name, delivery := range map[string]Delivery{"every": Every, "latest": Latest} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s, tokens := newScript("5", kit.Pod("a", "5")), make(chan struct{})
				i := New(sourceOf(s), Options[*corev1.Pod]{Observe: observed})
				_, err := i.Handle(&journal{}, HandlerOptions{})
				require.NoError(t, err)
				r, err := i.Handle(ticketed(tokens), HandlerOptions{Delivery: delivery})
				require.NoError(t, err)
				early := waiting(t.Context(), i, "5")
				pends(t, early) // the informer does not run yet
				stop := start(t, i)
				pends(t, early) // a is on its way
				tokens <- struct{}{}
				require.NoError(t, <-early)

				s.Send(watch.Added, kit.Pod("b", "6"))
				s.Send(watch.Modified, kit.Pod("a", "7"))
				first, shared := waiting(t.Context(), i, "6"), waiting(t.Context(), i.Shared().(interface {
					WaitDelivered(context.Context, string) error
				}), "7")
				pends(t, first)
				tokens <- struct{}{} // the last change is with the handler now, and has not been handled
				pends(t, shared)
				tokens <- struct{}{}
				require.NoError(t, <-first)
				require.NoError(t, <-shared)
				require.NoError(t, i.WaitDelivered(t.Context(), "7"), "nothing is left to wait for")
				for n := range 3 {
					s.Send(watch.Added, kit.Pod(fmt.Sprint("later", n), fmt.Sprint(8+n)))
					synctest.Wait()
				}
				tokens <- struct{}{}
				tokens <- struct{}{}
				synctest.Wait()
				undelivered := map[Delivery]int{Every: 2, Latest: 1}
				require.Equal(t, undelivered[delivery], r.Backlog(), "nobody waits any more: Every publishes no progress within a burst")
				tokens <- struct{}{}
				stop()
			})
		})
	}
}

func TestWaitDeliveredGivesUp(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, tokens := newScript("5", kit.Pod("a", "5")), make(chan struct{})
		i := New(sourceOf(s), Options[*corev1.Pod]{Observe: observed})
		r, err := i.Handle(ticketed(tokens), HandlerOptions{Name: "stuck"})
		require.NoError(t, err)
		stop := start(t, i)
		require.NoError(t, i.WaitSynced(t.Context()))

		short, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err = i.WaitDelivered(short, "5")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "stuck")

		result := waiting(t.Context(), i, "5")
		pends(t, result)
		r.Stop()
		require.NoError(t, <-result, "one that is stopped is owed nothing")
		close(tokens)

		result = waiting(t.Context(), i, "99")
		pends(t, result)
		stop()
		require.ErrorIs(t, <-result, ErrStopped)
		require.ErrorIs(t, New[*corev1.Pod](reflector.Source{}, Options[*corev1.Pod]{}).WaitDelivered(t.Context(), "1"), ErrNoSource)
	})
}

// WaitDelivered returns when the informer stops while a handler is stuck in an awaited change.
func TestWaitDeliveredEndsWithTheInformer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tokens := make(chan struct{})
		i := New(sourceOf(newScript("5", kit.Pod("a", "5"))), Options[*corev1.Pod]{Observe: observed})
		_, err := i.Shared().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-tokens }})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		wait, err := i.Start(ctx)
		require.NoError(t, err)
		result := waiting(t.Context(), i, "5")
		pends(t, result)
		cancel()
		require.ErrorIs(t, <-result, ErrStopped)
		close(tokens)
		require.NoError(t, wait())
	})
}

// WaitDelivered does not wait for a change that is published after the call.
func TestWaitDeliveredDoesNotWaitForWhatComesLater(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newTestCore(t, Options[*corev1.Pod]{}, 1)
		tokens := make(chan struct{}, 2)
		f.register(ticketed(tokens), HandlerOptions{})
		f.start()
		f.list("1", kit.Pod("x", "1"))
		synctest.Wait() // the handler is in the call of x
		f.apply(deltaOf(deltafifo.Added, kit.Pod("a", "2")))
		result := waiting(t.Context(), f, "2")
		pends(t, result)
		f.apply(deltaOf(deltafifo.Added, kit.Pod("b", "3")))
		tokens <- struct{}{}
		pends(t, result) // the handler is in the call of a
		tokens <- struct{}{}
		synctest.Wait() // the handler is in the call of b
		require.Len(t, result, 1)
		require.NoError(t, <-result)
		close(tokens)
	})
}

// A handler is synced before it gets the first change that follows the initial state, as in
// client-go, even if the initial state is empty.
func TestAHandlerIsSyncedBeforeWhatFollowsTheInitialState(t *testing.T) {
	for name, delivery := range map[string]Delivery{"every": Every, "latest": Latest} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				f := newTestCore(t, Options[*corev1.Pod]{}, 1)
				var r *registration
				var synced []bool
				r = f.register(HandlerFunc[*corev1.Pod](func(Change[*corev1.Pod]) { synced = append(synced, kit.Closed(r.Synced())) }), HandlerOptions{Delivery: delivery})
				f.list("1")
				f.apply(deltaOf(deltafifo.Added, kit.Pod("a", "2")))
				f.start()
				synctest.Wait()
				require.Equal(t, []bool{true}, synced)
			})
		})
	}
}

// A handler of two sources is synced before it gets the first change that follows the second
// initial state, even if it takes both together.
func TestAHandlerOfJoinedSourcesIsSyncedBeforeWhatFollows(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newTestCore(t, Options[*corev1.Pod]{}, 2)
		var r *registration
		var synced []bool
		r = f.register(HandlerFunc[*corev1.Pod](func(Change[*corev1.Pod]) { synced = append(synced, kit.Closed(r.Synced())) }), HandlerOptions{})
		f.list("1", kit.Pod("a", "1"))
		f.apply(deltafifo.Delta{Op: deltafifo.Begin, Source: 1})
		d := deltaOf(deltafifo.Added, kit.Pod("b", "1"))
		d.Source = 1
		f.apply(d, deltafifo.Delta{Op: deltafifo.Commit, Source: 1, Version: "1"})
		f.apply(deltaOf(deltafifo.Added, kit.Pod("c", "2")))
		f.start()
		synctest.Wait()
		require.Equal(t, []bool{false, false, true}, synced)
	})
}
