package informertest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// client-go's informer follows the model through all of its changes, with lists and with streams, over a
// Source and over HTTP. So the model is faithful enough for it.

// requestGate lets requests pass unless it is locked.
type requestGate struct{ sync.RWMutex }

// listWatch is a source for client-go behind the gate.
func (g *requestGate) listWatch(s reflector.Source) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			g.RLock()
			defer g.RUnlock()
			return s.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			g.RLock()
			defer g.RUnlock()
			return s.Watch(ctx, o)
		},
	}
}

// stored describes the objects of an informer.
func stored(i cache.SharedIndexInformer) map[string]string {
	found := map[string]string{}
	for _, obj := range i.GetStore().List() {
		p := obj.(*corev1.Pod)
		found[p.Namespace+"/"+p.Name] = p.ResourceVersion
	}
	return found
}

// changes makes every kind of change that an informer must follow.
func changes(t *testing.T, s *Server, g *requestGate, i cache.SharedIndexInformer, settle func(want map[string]string)) {
	t.Helper()
	want := map[string]string{}
	put := func(do func(context.Context, runtime.Object) error, p *corev1.Pod) {
		require.NoError(t, do(t.Context(), p))
		want[p.Namespace+"/"+p.Name] = p.ResourceVersion
	}
	for n := range 700 { // more than a page
		put(s.Create, newPod("a", fmt.Sprint(n)))
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); i.RunWithContext(ctx) }()
	defer func() { cancel(); <-ended }()
	settle(want)

	put(s.Update, newPod("a", "1", "x", "y"))
	put(s.Create, newPod("b", "1"))
	require.NoError(t, s.Delete(t.Context(), newPod("a", "2")))
	delete(want, "a/2")
	settle(want)

	g.Lock()
	s.CutWatches()
	require.NoError(t, s.Delete(t.Context(), newPod("a", "3")))
	delete(want, "a/3")
	put(s.Update, newPod("a", "4", "x", "y"))
	s.Compact() // the informer has missed both changes, and must list again
	g.Unlock()
	settle(want)
}

var ways = map[string]Options{"WatchList": {}, "LIST": {NoWatchList: true}, "LIST in pages": {NoWatchList: true, NoWatchCache: true}}

func TestInformerOfClientGoOnSource(t *testing.T) {
	for name, o := range ways {
		t.Run(name, func(t *testing.T) {
			inBubble(t, o, func(t *testing.T, s *Server) {
				var g requestGate
				i := cache.NewSharedIndexInformer(g.listWatch(s.Source(pods, "")), &corev1.Pod{}, 0, nil)
				changes(t, s, &g, i, func(want map[string]string) {
					time.Sleep(2 * time.Minute) // the longest wait between two tries is 60 s
					synctest.Wait()
					assert.Equal(t, want, stored(i))
				})
				assertWay(t, o, s.Counts())
			})
		})
	}
}

func TestInformerOfClientGoOverHTTP(t *testing.T) {
	for name, o := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // the tests wait for client-go's back-off
			s := startServer(t, o)
			var g requestGate
			lw := g.listWatch(reflector.From(newClient(t, s.ClientConfig()).CoreV1().Pods("")))
			i := cache.NewSharedIndexInformer(lw, &corev1.Pod{}, 0, nil)
			changes(t, s, &g, i, func(want map[string]string) {
				assert.Eventually(t, func() bool { return assert.ObjectsAreEqual(want, stored(i)) }, 30*time.Second, 10*time.Millisecond)
			})
			assertWay(t, o, s.Counts())
		})
	}
}

// assertWay checks in the requests that an informer has listed, or streamed, at least twice.
func assertWay(t *testing.T, o Options, r map[string]int) {
	t.Helper()
	assert.GreaterOrEqual(t, r["watchlist"], 2, "it is always tried first")
	switch {
	case !o.NoWatchList:
		assert.Zero(t, r["list"])
	case !o.NoWatchCache:
		assert.Equal(t, 2, r["list"])
	default:
		assert.GreaterOrEqual(t, r["list"], 4, "two lists of two pages")
	}
}
