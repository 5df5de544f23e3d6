package controllerruntime

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// collect returns a watch error handler that sends the errors to a channel.
func collect(into chan<- error) toolscache.WatchErrorHandlerWithContext {
	return func(ctx context.Context, r *toolscache.Reflector, err error) {
		if r == nil || ctx == nil {
			panic("a watch error handler must get a reflector and a context")
		}
		toolscache.DefaultWatchErrorHandler(ctx, r, err) // reads the reflector's fields
		select {
		case into <- err:
		default: // the test has seen enough errors
		}
	}
}

func TestRemoveInformer(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig, f flavour) {
		r.create(t, pod("a", "one", "web"))
		c := r.started(t, cache.Options{})
		first := informerOf(t, c, f)
		recorded, registration := handle(t, first)
		receive(t, registration.HasSyncedChecker().Done())
		r.watches(t, 1)

		require.NoError(t, c.RemoveInformer(t.Context(), f.pod()))
		require.NoError(t, c.RemoveInformer(t.Context(), f.pod()), "twice")
		r.watches(t, 0)
		await(t, "the informer to stop", first.IsStopped)
		r.create(t, pod("a", "two", "web"))

		second := informerOf(t, c, f)
		assert.NotSame(t, first, second)
		assert.True(t, second.HasSynced())
		assert.False(t, second.IsStopped())
		assert.True(t, first.IsStopped())
		assert.Equal(t, []string{"a/one", "a/two"}, f.pods(t, c))
		assert.Len(t, recorded.recorded(), 1)
		r.watches(t, 1)
	})
}

func TestInformerIsGivenWithoutWaiting(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig, f flavour) {
		r.create(t, pod("a", "one", "web"))
		c := r.started(t, cache.Options{})
		r.gate.shut()
		i, err := c.GetInformer(t.Context(), f.pod(), cache.BlockUntilSynced(false))
		require.NoError(t, err)
		assert.False(t, i.HasSynced())
		recorded, registration := handle(t, i)
		assert.False(t, registration.HasSynced())
		await(t, "a request", func() bool { return len(r.gate.requests()) > 0 })

		r.gate.open()
		receive(t, registration.HasSyncedChecker().Done())
		assert.True(t, i.HasSynced())
		assert.Len(t, recorded.recorded(), 1)
	})
}

func TestWaitForInformerEndsWithItsContext(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig, f flavour) {
		c := r.started(t, cache.Options{})
		r.gate.shut()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := c.GetInformer(ctx, f.pod())
		assert.True(t, apierrors.IsTimeout(err), "%v", err)
		_, err = c.GetInformerForKind(ctx, podKind)
		assert.True(t, apierrors.IsTimeout(err), "%v", err)
	})
}

// A cache that has not synced stops like any other, and leaves nothing behind.
func TestStopBeforeTheSync(t *testing.T) {
	for name, o := range map[string]cache.Options{
		"one informer": {},
		"namespaces":   {DefaultNamespaces: map[string]cache.Config{"a": {}, "b": {}}},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, r *rig) {
				r.gate.shut()
				c := r.cache(t, o)
				i, err := c.GetInformer(t.Context(), &corev1.Pod{})
				require.NoError(t, err)
				stop := r.start(t, c)
				await(t, "a request", func() bool { return len(r.gate.requests()) > 0 })
				stop()
				assert.True(t, i.IsStopped())
				assert.False(t, i.HasSynced())
			})
		})
	}
}

func TestCacheStartsOnce(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		c := r.started(t, cache.Options{})
		require.ErrorContains(t, c.Start(t.Context()), "already started")
	})
}

func TestWaitForCacheSyncEndsWithItsContext(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		c := r.started(t, cache.Options{})
		r.gate.shut()
		_, err := c.GetInformer(t.Context(), &corev1.Pod{}, cache.BlockUntilSynced(false))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		assert.False(t, c.WaitForCacheSync(ctx))
	})
}

// The watch error handler gets the error of a refused request. The cache syncs when requests are
// answered.
func TestWatchErrorHandler(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig, f flavour) {
		r.create(t, pod("a", "one", "web"))
		r.gate.refuse()
		reported := make(chan error, 1)
		c := r.started(t, cache.Options{DefaultWatchErrorHandler: collect(reported)})
		i, err := c.GetInformer(t.Context(), f.pod(), cache.BlockUntilSynced(false))
		require.NoError(t, err)
		assert.True(t, apierrors.IsForbidden(receive(t, reported)))
		assert.False(t, i.HasSynced())
		r.gate.open()
		assert.Equal(t, []string{"a/one"}, f.pods(t, c))
	})
}

// Without bookmarks a server cannot mark the end of a stream's initial state. Then tidemark lists (D12),
// and client-go waits forever.
func TestNoBookmarks(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		if !r.ours() {
			t.Skip("client-go waits for the bookmark at the end of the initial state")
		}
		no := false
		r.create(t, pod("a", "one", "web"))
		c := r.started(t, cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {EnableWatchBookmarks: &no}}})
		assert.Equal(t, []string{"a/one"}, typed.pods(t, c))
	})
}

// Both libraries get the initial state as a stream, and continue with the same watch.
// controller-runtime's ListerWatcher does not say that it can stream, but both try.
func TestInitialStateIsStreamed(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig, f flavour) {
		r.create(t, pod("a", "one", "web"))
		c := r.started(t, cache.Options{})
		assert.Equal(t, []string{"a/one"}, f.pods(t, c))
		r.create(t, pod("a", "two", "web"))
		f.has(t, c, []string{"a/one", "a/two"})

		asked := r.server.Counts()
		assert.Equal(t, 1, asked["watchlist"])
		assert.Zero(t, asked["list"]+asked["watch"])
		if f.name == typed.name {
			assert.Contains(t, r.gate.requests()[0].Header.Get("Accept"), "protobuf")
		}
	})
}
