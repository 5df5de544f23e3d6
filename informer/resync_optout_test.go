package informer

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// A negative period opts a handler out of resyncs, and zero stands for the informer's period.
func TestAHandlerOptsOutOfResyncs(t *testing.T) {
	for _, delivery := range deliveries {
		bubble(t, func(t *testing.T) {
			s := newScript("10", kit.Pod("a", "1"))
			i, j := startWithJournal(t, s, Options[*corev1.Pod]{Resync: time.Minute})
			never := &journal{}
			_, err := i.Handle(never, HandlerOptions{Delivery: delivery, Resync: -1})
			require.NoError(t, err)
			require.Equal(t, []string{"initial a@1"}, never.take())
			require.Equal(t, []string{"initial a@1"}, j.take())
			time.Sleep(time.Hour)
			require.Len(t, j.take(), 60)
			require.Empty(t, never.take())
			s.Send(watch.Modified, kit.Pod("a", "11"))
			require.Equal(t, []string{"update a@1 a@11"}, never.take(), "changes it is told")
		})
	}
}
