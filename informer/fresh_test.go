package informer_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/reflector"
	"github.com/tidemark-k8s/tidemark/shard"
)

// writeElsewhere changes a resource that the informer does not read, which moves the server's version.
func (k *kept) writeElsewhere() {
	k.t.Helper()
	require.NoError(k.t, k.server.Create(k.t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "c-"}}))
}

// names returns the names of the pods in the store.
func names(i *informer.Informer[*corev1.Pod]) (all []string) {
	for pod := range i.Indexer().All() {
		all = append(all, pod.Name)
	}
	return all
}

// After WaitFresh a read is as new as one from the server, though the watch is late.
func TestContract_D33_WaitFreshWaitsForALateWatch(t *testing.T) {
	inKept(t, func(t *testing.T, k *kept) {
		i := informer.New(k.source(""), informer.Options[*corev1.Pod]{Observe: quiet})
		defer k.start(i)()
		require.NoError(t, i.WaitFresh(t.Context()))

		resume := k.server.Stall(informertest.Request{Verb: "watch", Resource: "pods"})
		require.NoError(t, k.server.Create(t.Context(), podIn("default", "new")))
		fresh := make(chan error, 1)
		go func() { fresh <- i.WaitFresh(t.Context()) }()
		time.Sleep(500 * time.Millisecond)
		require.Empty(t, fresh, "the watch has not brought the pod")
		resume()
		require.NoError(t, <-fresh)
		require.Contains(t, names(i), "new")
	})
}

// On a resource in which nothing changes WaitFresh takes some seconds, and not until the next bookmark.
func TestContract_D33_WaitFreshOfAQuietResource(t *testing.T) {
	inKept(t, func(t *testing.T, k *kept) {
		i := informer.New(k.source(""), informer.Options[*corev1.Pod]{Observe: quiet})
		defer k.start(i)()
		for range 3 {
			k.writeElsewhere()
			newest := k.now().ResourceVersion
			began := time.Now()
			require.NoError(t, i.WaitFresh(t.Context()))
			require.LessOrEqual(t, time.Since(began), 3*time.Second, "a second, and two for the bookmark; also if called again at once")
			require.Equal(t, newest, i.Indexer().Version())
		}
		watches := k.server.Counts()["watch"]
		require.NoError(t, i.WaitFresh(t.Context()))
		require.Equal(t, watches, k.server.Counts()["watch"], "the store has come so far already")
	})
}

// caching is a source as a kube-apiserver serves it, from a cache of the resource. The cache has come as far as the last
// change of the resource, or the last list. A watch gets no bookmark up to the last change before it was opened, also if
// its selector has kept that change back.
type caching struct {
	inner           reflector.Source
	mu              sync.Mutex
	changed, cached string // the version of the last change, and that of the cache
}

// change says that the resource has changed.
func (c *caching) change(version string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed, c.cached = version, version
}

func (c *caching) source() reflector.Source {
	s := c.inner
	s.List, s.Watch = c.List, c.Watch
	return s
}

func (c *caching) List(ctx context.Context, o metav1.ListOptions) (k8sruntime.Object, error) {
	list, err := c.inner.List(ctx, o)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.cached = object.Advance(c.cached, list.(*corev1.PodList).ResourceVersion)
	}
	return list, err
}

func (c *caching) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	w, err := c.inner.Watch(ctx, o)
	if err != nil || o.SendInitialEvents != nil {
		return w, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	begins := c.changed
	return watch.Filter(w, func(e watch.Event) (watch.Event, bool) {
		if e.Type != watch.Bookmark {
			return e, true
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		object.Meta(e.Object).SetResourceVersion(c.cached)
		return e, object.Older(begins, c.cached)
	}), nil
}

// Where the last change is one that a selector keeps back, a server sends a bookmark only once its cache has come
// further. WaitFresh moves it on.
func TestContract_D33_WaitFreshAfterAHeldBackChange(t *testing.T) {
	none, err := shard.Of(shard.ByUID)
	require.NoError(t, err)
	for name, row := range map[string]struct {
		selector string
		share    shard.Assignment
	}{"a selector": {"app=none", nil}, "a share": {"", shard.Static(none)}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := &kept{t: t, server: informertest.New(informertest.Options{ShardedListAndWatch: true})}
				defer k.server.Close()
				c := &caching{inner: k.source("")}
				source := c.source()
				source.Tweak = func(o *metav1.ListOptions) { o.LabelSelector = row.selector }
				i := informer.New(source, informer.Options[*corev1.Pod]{Observe: quiet, Shard: row.share})
				defer k.start(i)()
				require.NoError(t, i.WaitFresh(t.Context()))
				for n := range 3 {
					p := podIn("default", fmt.Sprint("p-", n))
					require.NoError(t, k.server.Create(t.Context(), p))
					c.change(p.ResourceVersion)
					time.AfterFunc(3*time.Second, k.writeElsewhere)
					ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
					began := time.Now()
					require.NoError(t, i.WaitFresh(ctx))
					cancel()
					require.LessOrEqual(t, time.Since(began), 12*time.Second)
					require.False(t, object.Older(i.Indexer().Version(), p.ResourceVersion))
					time.Sleep(time.Minute)
				}
			})
		})
	}
}

// Callers at the same time share a question, but not one that began before they came.
func TestContract_D33_CallersShareAQuestion(t *testing.T) {
	inKept(t, func(t *testing.T, k *kept) {
		i := informer.New(k.source(""), informer.Options[*corev1.Pod]{Observe: quiet})
		defer k.start(i)()
		require.NoError(t, i.WaitFresh(t.Context()))
		before := k.server.Counts()["list"]

		resume := k.server.Stall(informertest.Request{Verb: "list", Resource: "pods"})
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() { require.NoError(t, i.WaitFresh(t.Context())) })
		}
		synctest.Wait()
		require.NoError(t, k.server.Create(t.Context(), podIn("default", "new")))
		given, giveUp := context.WithCancel(t.Context())
		all.Go(func() { require.ErrorIs(t, i.WaitFresh(given), context.Canceled) })
		for range 100 {
			all.Go(func() {
				require.NoError(t, i.WaitFresh(t.Context()))
				require.Contains(t, names(i), "new")
			})
		}
		synctest.Wait()
		giveUp()
		synctest.Wait()
		resume()
		all.Wait()
		require.LessOrEqual(t, k.server.Counts()["list"]-before, 2, "one, and one for all behind it")
	})
}

// A question that fails is asked again; if it never succeeds, its error is the reason.
func TestContract_D33_AQuestionThatFails(t *testing.T) {
	inKept(t, func(t *testing.T, k *kept) {
		i := informer.New(k.source(""), informer.Options[*corev1.Pod]{Observe: quiet})
		stop := k.start(i)
		require.NoError(t, i.WaitFresh(t.Context()))

		var fails atomic.Bool
		fails.Store(true)
		failed := errors.New("on purpose")
		k.server.Intercept(func(_ context.Context, r informertest.Request) error {
			if r.Verb == "list" && fails.Load() {
				return failed
			}
			return nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		err := i.WaitFresh(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, failed)
		require.LessOrEqual(t, k.server.Counts()["list"], 10, "with pauses")

		fresh := make(chan error, 1)
		go func() { fresh <- i.WaitFresh(t.Context()) }()
		time.Sleep(time.Minute)
		require.Empty(t, fresh)
		fails.Store(false)
		require.NoError(t, <-fresh)

		fails.Store(true)
		go func() { fresh <- i.WaitFresh(t.Context()) }()
		synctest.Wait()
		stop()
		require.ErrorIs(t, <-fresh, informer.ErrStopped)
	})
}

// The question obeys the Retry-After of a busy server, as a list does, also for later callers.
func TestContract_D33_AQuestionToABusyServer(t *testing.T) {
	inKept(t, func(t *testing.T, k *kept) {
		i := informer.New(k.source(""), informer.Options[*corev1.Pod]{Observe: quiet})
		defer k.start(i)()
		require.NoError(t, i.WaitFresh(t.Context()))

		var questions atomic.Int32
		k.server.Intercept(func(_ context.Context, r informertest.Request) error {
			if r.Verb != "list" {
				return nil
			}
			questions.Add(1)
			return apierrors.NewTooManyRequests("busy", 120)
		})
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
			err := i.WaitFresh(ctx)
			cancel()
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.EqualValues(t, 1, questions.Load())
		}
	})
}

// A source that ends the goroutine of a question ends the run, as in a list.
func TestContract_D28_ASourceThatEndsItsGoroutineWhenAskedForItsVersion(t *testing.T) {
	inKept(t, func(t *testing.T, k *kept) {
		var exits atomic.Bool
		k.server.Intercept(func(_ context.Context, r informertest.Request) error {
			if r.Verb == "list" && exits.Load() {
				runtime.Goexit()
			}
			return nil
		})
		i := informer.New(k.source(""), informer.Options[*corev1.Pod]{Observe: quiet})
		wait, err := i.Start(t.Context())
		require.NoError(t, err)
		require.NoError(t, i.WaitFresh(t.Context()))
		exits.Store(true)
		require.ErrorIs(t, i.WaitFresh(t.Context()), informer.ErrExited)
		require.ErrorIs(t, wait(), informer.ErrExited)
	})
}

// Each of several sources is asked.
func TestContract_D33_WaitFreshOfSeveralSources(t *testing.T) {
	inKept(t, func(t *testing.T, k *kept) {
		i := informer.Join([]reflector.Source{k.source("default"), k.source("other"), k.source("third")}, informer.Options[*corev1.Pod]{Observe: quiet})
		defer k.start(i)()
		require.NoError(t, i.WaitFresh(t.Context()))
		resume := k.server.Stall(informertest.Request{Verb: "watch", Namespace: "third"})
		require.NoError(t, k.server.Create(t.Context(), podIn("third", "new")))
		fresh := make(chan error, 1)
		go func() { fresh <- i.WaitFresh(t.Context()) }()
		time.Sleep(30 * time.Second)
		require.Empty(t, fresh)
		resume()
		require.NoError(t, <-fresh)
		require.Contains(t, names(i), "new")
	})
}

// D35: the fence of a deletion that was answered without a version ends with a list that takes the place of its event.
func TestContract_D35_AListEndsADeletion(t *testing.T) {
	inKept(t, func(t *testing.T, k *kept) {
		config := k.linked(t)
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			t.Cleanup(func() { utilnet.CloseIdleConnectionsFor(next) })
			return next
		})
		maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default")
		i := informer.New(reflector.FromGenerated[*corev1.ConfigMap](maps, corev1.SchemeGroupVersion.WithResource("configmaps")), informer.Options[*corev1.ConfigMap]{Observe: quiet})
		ctx, cancel := context.WithCancel(t.Context())
		wait, err := i.Start(ctx)
		require.NoError(t, err)
		defer func() { cancel(); require.NoError(t, wait()) }()
		require.NoError(t, i.WaitSynced(ctx))
		_, err = maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "one"}}, metav1.CreateOptions{})
		require.NoError(t, err)
		require.NoError(t, i.WaitFresh(ctx))

		resume := k.server.Stall(informertest.Request{Verb: "watch", Resource: "configmaps"})
		require.NoError(t, maps.Delete(ctx, "one", metav1.DeleteOptions{}))
		require.Equal(t, 1, i.Status().OwnWrites.Pending)
		k.server.Compact()
		k.server.CutWatches()
		resume()
		time.Sleep(time.Minute)
		require.Equal(t, 1, i.Status().Relists)
		require.Zero(t, i.Status().OwnWrites.Pending)
		require.Zero(t, i.Indexer().Len())
	})
}
