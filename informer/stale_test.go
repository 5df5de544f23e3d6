package informer_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// How long a server may be silent before Status.Stale is set depends on whether it sends bookmarks.
func TestStale(t *testing.T) {
	for title, c := range map[string]struct {
		bookmarks   time.Duration
		fine, stale time.Duration // durations of silence
	}{
		"a server with bookmarks":    {time.Minute, 2 * time.Minute, 2*time.Minute + time.Second},
		"a server without bookmarks": {0, time.Second, 10*time.Minute + 31*time.Second},
	} {
		t.Run(title, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := informertest.New(informertest.Options{BookmarkInterval: c.bookmarks})
				defer server.Close()
				i := informer.New(server.Source(corev1.SchemeGroupVersion.WithResource("pods"), ""), informer.Options[*corev1.Pod]{Observe: func(informer.Event) {}})
				ctx, stop := context.WithCancel(context.Background())
				wait, err := i.Start(ctx)
				require.NoError(t, err)
				defer func() { require.NoError(t, wait()) }()
				defer stop()
				require.NoError(t, i.WaitSynced(ctx))
				time.Sleep(25 * time.Minute) // nothing changes meanwhile, and watches end
				synctest.Wait()
				require.False(t, i.Status().Stale)

				began := time.Now()
				if c.bookmarks > 0 {
					began = i.Status().Confirmed // by the last bookmark
				}
				server.Stall(informertest.Request{})
				time.Sleep(time.Until(began.Add(c.fine)))
				require.False(t, i.Status().Stale, "%s after the last sign of life", time.Since(began))
				time.Sleep(time.Until(began.Add(c.stale)))
				require.True(t, i.Status().Stale, "%s after the last sign of life", time.Since(began))
			})
		})
	}
}
