package informer

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// StreamPatience is the time after which a silent stream is followed by a list, and patience must
// not be negative.
func TestPatienceOfTheOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := func() (watch.Interface, error) { return watch.NewFake(), nil }
		source := streamless{newScript("5", kit.Pod("a", "3")), reflector.StreamingSupported, silent}.source()
		i := New(source, Options[*corev1.Pod]{Observe: observed, StreamPatience: 42 * time.Second})
		ctx, cancel := context.WithCancel(t.Context())
		wait, err := i.Start(ctx)
		require.NoError(t, err)
		start := time.Now()
		require.NoError(t, i.WaitSynced(ctx))
		require.Equal(t, 42*time.Second, time.Since(start))
		cancel()
		require.NoError(t, wait())
		i = New(source, Options[*corev1.Pod]{Observe: observed, ListPatience: -1})
		require.ErrorIs(t, i.Run(t.Context()), ErrOutOfRange)
	})
}
