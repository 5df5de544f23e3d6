package informer

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// A backlog above MaxBacklog is reported once, and again only if it grows above MaxBacklog after
// the handler has caught up. No event is dropped.
func TestABacklogAboveItsBoundIsReportedOnce(t *testing.T) {
	for _, delivery := range deliveries {
		bubble(t, func(t *testing.T) {
			const bound = 3
			s, h, seen := newScript("10", kit.Pod("a", "1")), newGated(), newEvents()
			i := New(s, Options[*corev1.Pod]{Observe: seen.observe})
			_, err := i.Handle(h, HandlerOptions{Name: "slow", Delivery: delivery, MaxBacklog: bound})
			require.NoError(t, err)
			_, err = i.Handle(&journal{}, HandlerOptions{Name: "quick", MaxBacklog: 1})
			require.NoError(t, err)
			start(t, i)
			version, want := 10, []string{"initial a@1"}
			send := func() {
				version++
				p := kit.Pod(fmt.Sprint("p", version), fmt.Sprint(version))
				s.Send(watch.Added, p)
				synctest.Wait()
				want = append(want, line(Change[*corev1.Pod]{Kind: Added, New: p}))
			}
			lagging := func() bool { return i.Status().Handlers[0].Lagging }
			for initial := 1; initial >= 0; initial-- { // initial adds in Backlog
				for i.Status().Handlers[0].Backlog < bound {
					send()
				}
				require.Empty(t, of[HandlerLagging](seen), "up to the bound")
				require.False(t, lagging())
				for range 5 {
					send()
				}
				require.Equal(t, []HandlerLagging{{Handler: "slow", Backlog: bound + 1 + initial}}, of[HandlerLagging](seen))
				require.True(t, lagging())
				for i.Status().Handlers[0].Backlog > 0 {
					require.True(t, lagging(), "until it was told everything")
					h.pass()
				}
				require.False(t, lagging())
				require.False(t, i.Status().Handlers[1].Lagging)
				send() // the handler is stuck again
			}
			h.open()
			require.Equal(t, want, h.take())
		})
	}
}

// The initial state does not count towards MaxBacklog, and MaxBacklog 0 means no bound.
func TestABacklogOfTheInitialState(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, h, seen := newScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"), kit.Pod("c", "3")), newGated(), newEvents()
		i := New(s, Options[*corev1.Pod]{Observe: seen.observe})
		_, err := i.Handle(h, HandlerOptions{Name: "bounded", MaxBacklog: 2})
		require.NoError(t, err)
		_, err = i.Handle(h, HandlerOptions{Name: "not bounded"})
		require.NoError(t, err)
		start(t, i)
		defer h.open()
		send := func(version int) {
			s.Send(watch.Added, kit.Pod("d", fmt.Sprint(version)))
			synctest.Wait()
		}
		send(11)
		send(12)
		require.Empty(t, of[HandlerLagging](seen))
		send(13)
		require.Equal(t, []HandlerLagging{{Handler: "bounded", Backlog: 6}}, of[HandlerLagging](seen))
	})
}
