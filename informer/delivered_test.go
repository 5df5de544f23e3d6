package informer

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// waiting runs WaitDelivered beside a test.
func waiting(ctx context.Context, i interface {
	WaitDelivered(context.Context, string) error
}, version string,
) <-chan error {
	result := make(chan error, 1)
	go func() { result <- i.WaitDelivered(ctx, version) }()
	return result
}

// pends fails the test if something has been sent.
func pends(t *testing.T, result <-chan error) {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-result:
		require.Fail(t, "it has not waited", "%v", err)
	default:
	}
}

// ticketed is a handler that takes one change for each token.
func ticketed(tokens <-chan struct{}) Handler[*corev1.Pod] {
	return HandlerFunc[*corev1.Pod](func(Change[*corev1.Pod]) { <-tokens })
}

func TestWaitDeliveredWaitsForTheSlowestHandler(t *testing.T) {
	for name, delivery := range map[string]Delivery{"every": Every, "latest": Latest} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s, tokens := newScript("5", pod("a", "5")), make(chan struct{})
				i := New(s, Options[*corev1.Pod]{Observe: observed})
				_, err := i.Handle(&journal{}, HandlerOptions{})
				require.NoError(t, err)
				_, err = i.Handle(ticketed(tokens), HandlerOptions{Delivery: delivery})
				require.NoError(t, err)
				early := waiting(t.Context(), i, "5")
				pends(t, early) // it does not run yet
				stop := start(t, i)
				pends(t, early) // a is on its way
				tokens <- struct{}{}
				require.NoError(t, <-early)

				s.send(watch.Added, pod("b", "6"))
				s.send(watch.Modified, pod("a", "7"))
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
				for _, r := range i.core.processor.all() {
					require.Zero(t, r.waiters.count.Load())
				}
				stop()
			})
		})
	}
}

func TestWaitDeliveredGivesUp(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, tokens := newScript("5", pod("a", "5")), make(chan struct{})
		i := New(s, Options[*corev1.Pod]{Observe: observed})
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
		require.ErrorIs(t, New[*corev1.Pod](nil, Options[*corev1.Pod]{}).WaitDelivered(t.Context(), "1"), ErrNoSource)
	})
}

// The informer stops while a handler holds up what is waited for.
func TestWaitDeliveredEndsWithTheInformer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tokens := make(chan struct{})
		i := New(newScript("5", pod("a", "5")), Options[*corev1.Pod]{Observe: observed})
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
		wait()
	})
}
