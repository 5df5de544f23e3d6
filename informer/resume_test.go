package informer_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// A resource that changes every 40 ms never shows the pause of 50 ms after which a resumed watch
// counts as caught up. The informer then lists, within seconds.
func TestResumeOfABusyResource(t *testing.T) {
	for name, bookmarks := range map[string]time.Duration{"without bookmarks": 0, "with bookmarks": time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := &kept{t: t, server: informertest.New(informertest.Options{BookmarkInterval: bookmarks})}
				defer k.server.Close()
				require.NoError(t, k.server.Create(t.Context(), podIn("default", "busy")))
				i := informer.New(k.source(""), informer.Options[*corev1.Pod]{Observe: quiet})
				stop := k.start(i)
				require.NoError(t, i.WaitFresh(t.Context()))
				stop()
				stop = k.start(i)
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan struct{})
				go func() {
					defer close(done)
					busy := podIn("default", "busy")
					for n := 0; ctx.Err() == nil; n++ {
						busy.Labels = map[string]string{"changed": fmt.Sprint(n)}
						_ = k.server.Update(ctx, busy)
						time.Sleep(40 * time.Millisecond)
					}
				}()
				began := time.Now()
				require.NoError(t, i.WaitFresh(ctx))
				require.Less(t, time.Since(began), 10*time.Second)
				cancel()
				<-done
				stop()
			})
		})
	}
}

// restored is a source of one server, and later of another server that was restored from a backup.
type restored struct {
	present atomic.Pointer[informertest.Source]
	away    atomic.Bool
}

func (r *restored) List(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	if r.away.Load() {
		return nil, errors.New("the server is away")
	}
	return r.present.Load().List(ctx, o)
}

func (r *restored) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	if r.away.Load() {
		return nil, errors.New("the server is away")
	}
	return r.present.Load().Watch(ctx, o)
}

func (*restored) Streaming() reflector.Streaming { return reflector.StreamingSupported }

// If a run has ended during an outage, the next run lists: the server may have been restored from a
// backup, and its versions may have grown past the known version.
func TestResumeAfterAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before, after := informertest.New(informertest.Options{}), informertest.New(informertest.Options{})
		defer before.Close()
		defer after.Close()
		pods := corev1.SchemeGroupVersion.WithResource("pods")
		for n := range 20 {
			require.NoError(t, before.Create(t.Context(), podIn("default", fmt.Sprint("gone-", n))))
		}
		source := new(restored)
		source.present.Store(before.Source(pods, ""))
		i := informer.New(reflector.Source(source), informer.Options[*corev1.Pod]{Observe: quiet})
		k := &kept{t: t}
		stop := k.start(i)
		require.NoError(t, i.WaitFresh(t.Context()))

		time.Sleep(2 * time.Second)
		source.present.Store(after.Source(pods, ""))
		source.away.Store(true)
		before.CutWatches()
		time.Sleep(3 * time.Minute)
		stop()
		source.away.Store(false)
		for n := range 40 {
			require.NoError(t, after.Create(t.Context(), podIn("default", fmt.Sprint("new-", n))))
		}
		stop = k.start(i)
		require.NoError(t, i.WaitFresh(t.Context()))
		require.Equal(t, 40, i.Indexer().Len())
		_, found := i.Indexer().Get(indexer.Key{Namespace: "default", Name: "gone-0"})
		require.False(t, found)
		stop()
	})
}

// A resumed watch counts as a sign of life, because the server has accepted it.
func TestStalenessAfterResume(t *testing.T) {
	inKept(t, func(t *testing.T, k *kept) {
		i := informer.New(k.source(""), informer.Options[*corev1.Pod]{Observe: quiet})
		stop := k.start(i)
		require.NoError(t, i.WaitFresh(t.Context()))
		stop()
		time.Sleep(10 * time.Minute)
		stop = k.start(i)
		require.NoError(t, i.WaitFresh(t.Context()))
		require.Zero(t, i.Status().Relists)
		require.Less(t, i.Status().Staleness, time.Minute)
		stop()
	})
}

// The next run undoes what a user has written into the store.
func TestWritesByHandEndWithTheRun(t *testing.T) {
	inKept(t, func(t *testing.T, k *kept) {
		i := informer.New(k.source(""), informer.Options[*corev1.Pod]{Observe: quiet})
		stop := k.start(i)
		require.NoError(t, i.WaitFresh(t.Context()))
		names := i.Shared().GetStore().ListKeys()
		require.NoError(t, i.Shared().GetStore().Delete(podIn("default", "a")))
		require.NoError(t, i.Shared().GetStore().Add(podIn("default", "ghost")))
		stop()
		stop = k.start(i)
		require.NoError(t, i.WaitFresh(t.Context()))
		require.ElementsMatch(t, names, i.Shared().GetStore().ListKeys())
		stop()
	})
}
