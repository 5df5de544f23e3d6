package audit_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/internal/audit"
	"github.com/tidemark-k8s/tidemark/reflector"
	"github.com/tidemark-k8s/tidemark/shard"
)

func newPod(namespace, name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

func key(name string) indexer.Key { return indexer.Key{Namespace: "default", Name: name} }

// inCluster runs a test in a bubble, with a server that has n pods in two namespaces.
func inCluster(t *testing.T, n int, test func(*testing.T, *informertest.Server)) {
	synctest.Test(t, func(t *testing.T) {
		server := informertest.New(informertest.Options{})
		defer server.Close()
		for i := range n {
			require.NoError(t, server.Create(t.Context(), newPod([]string{"default", "other"}[i%2], fmt.Sprint("pod-", i))))
		}
		test(t, server)
	})
}

// run runs an informer of pods until the test ends, and waits until it is fresh.
func run(t *testing.T, server *informertest.Server, o informer.Options[*corev1.Pod], namespaces ...string) *informer.Informer[*corev1.Pod] {
	o.Observe = func(informer.Event) {}
	var sources []reflector.Source
	for _, namespace := range namespaces {
		sources = append(sources, server.Source(corev1.SchemeGroupVersion.WithResource("pods"), namespace))
	}
	i := informer.Join(sources, o)
	ctx, cancel := context.WithCancel(context.Background())
	wait, err := i.Start(ctx)
	require.NoError(t, err)
	t.Cleanup(func() {
		cancel()
		require.NoError(t, wait())
	})
	require.NoError(t, i.WaitFresh(t.Context()))
	return i
}

// An audit finds each way in which a store can differ, and nothing else.
func TestEachDifference(t *testing.T) {
	inCluster(t, 0, func(t *testing.T, server *informertest.Server) {
		for _, name := range []string{"a", "b", "c", "d"} {
			require.NoError(t, server.Create(t.Context(), newPod("default", name)))
		}
		i := run(t, server, informer.Options[*corev1.Pod]{}, "")
		found, err := audit.Of(t.Context(), i.Shared())
		require.NoError(t, err)
		require.Equal(t, audit.Report{Objects: 4}, found)

		store := i.Shared().GetStore()
		stored := func(name string) *corev1.Pod {
			p, ok := i.Indexer().Get(key(name))
			require.True(t, ok)
			return p.DeepCopy()
		}
		b, c := stored("b"), stored("c")
		was := b.ResourceVersion
		b.ResourceVersion, c.UID = "1", "another"
		require.NoError(t, store.Delete(stored("a")))
		require.NoError(t, store.Add(newPod("default", "by-hand")))
		require.NoError(t, store.Update(b))
		require.NoError(t, store.Update(c))
		var a corev1.Pod
		require.NoError(t, server.Get(t.Context(), "default", "a", &a))
		found, err = audit.Of(t.Context(), i.Shared())
		require.NoError(t, err)
		require.Equal(t, audit.Report{Objects: 5, Differences: []audit.Difference{
			{Key: key("a"), Kind: audit.Missing, Server: a.ResourceVersion},
			{Key: key("b"), Kind: audit.Other, Stored: "1", Server: was},
			{Key: key("by-hand"), Kind: audit.Extra},
			{Key: key("c"), Kind: audit.Other, Stored: c.ResourceVersion, Server: c.ResourceVersion},
		}}, found)
	})
}

// Changes during an audit are no differences, in a store of several pages and several sources.
func TestABusyStore(t *testing.T) {
	inCluster(t, 1200, func(t *testing.T, server *informertest.Server) {
		one := run(t, server, informer.Options[*corev1.Pod]{}, "")
		joined := run(t, server, informer.Options[*corev1.Pod]{}, "default", "other")
		n := 0
		defer server.Intercept(func(ctx context.Context, r informertest.Request) error {
			for range 50 { // before each page
				n++
				if pod := newPod([]string{"default", "other"}[n%2], fmt.Sprint("pod-", n%1200)); n%3 == 0 {
					_ = server.Delete(ctx, pod)
				} else {
					pod.Name = "new-" + pod.Name
					_ = server.Create(ctx, pod)
				}
			}
			time.Sleep(time.Second)
			return nil
		})()
		for range 5 {
			for _, i := range []*informer.Informer[*corev1.Pod]{one, joined} {
				found, err := audit.Of(t.Context(), i.Shared())
				require.NoError(t, err)
				require.Empty(t, found.Differences)
				require.Greater(t, found.Objects, 1000)
			}
		}
	})
}

// An informer with a share is compared within it.
func TestAShare(t *testing.T) {
	inCluster(t, 60, func(t *testing.T, server *informertest.Server) {
		half, err := shard.Nth(shard.ByUID, 1, 2)
		require.NoError(t, err)
		i := run(t, server, informer.Options[*corev1.Pod]{Shard: shard.Static(half)}, "")
		found, err := audit.Of(t.Context(), i.Shared())
		require.NoError(t, err)
		require.Equal(t, audit.Report{Objects: i.Indexer().Len()}, found)
		require.NotZero(t, found.Objects)
		require.Less(t, found.Objects, 60)
	})
}

// A source without versions cannot be compared.
func TestNoVersion(t *testing.T) {
	inCluster(t, 0, func(t *testing.T, server *informertest.Server) {
		idle := informer.New(server.Source(corev1.SchemeGroupVersion.WithResource("pods"), ""), informer.Options[*corev1.Pod]{})
		_, err := audit.Of(t.Context(), idle.Shared())
		require.ErrorContains(t, err, "does not list at the store's version")
	})
}
