package informer_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/internal/audit"
	"github.com/tidemark-k8s/tidemark/reflector"
	"github.com/tidemark-k8s/tidemark/shard"
)

// eachGate runs a test with a server that filters by share, and with one that does not.
func eachGate(t *testing.T, test func(t *testing.T, k *kept, filters bool)) {
	for name, filters := range map[string]bool{"filters": true, "does not filter": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := &kept{t: t, server: informertest.New(informertest.Options{ShardedListAndWatch: filters})}
				t.Cleanup(k.server.Close)
				k.create("first", 20)
				test(t, k, filters)
			})
		})
	}
}

// nth returns a share of some equal ones.
func nth(t *testing.T, f shard.Field, index, total int) shard.Set {
	t.Helper()
	share, err := shard.Nth(f, index, total)
	require.NoError(t, err)
	return share
}

// requireShare requires that a store holds the server's pods of a share, and no others.
func (k *kept) requireShare(i *informer.Informer[*corev1.Pod], share shard.Set) {
	k.t.Helper()
	want := map[types.UID]string{}
	for _, p := range k.now().Items {
		if share.Has(p.Namespace, p.UID) {
			want[p.UID] = p.ResourceVersion
		}
	}
	got := map[types.UID]string{}
	for p := range i.Indexer().All() {
		got[p.UID] = p.ResourceVersion
	}
	require.Equal(k.t, want, got)
}

// create creates some pods, in several namespaces, some in each half of the ring.
func (k *kept) create(name string, n int) {
	k.t.Helper()
	tenants := []string{"shop", "prod", "default", "zeta", "tools"}
	for i := range n {
		require.NoError(k.t, k.server.Create(k.t.Context(), podIn(tenants[i%len(tenants)], fmt.Sprint(name, "-", i))))
	}
}

// Two informers divide the server's pods between them.
func TestTwoInformersWithHalvesOfTheRing(t *testing.T) {
	eachGate(t, func(t *testing.T, k *kept, _ bool) {
		var all []*informer.Informer[*corev1.Pod]
		var stops []func()
		defer func() {
			for _, stop := range stops {
				stop()
			}
		}()
		for n := range 2 {
			half := nth(t, shard.ByUID, n, 2)
			i := informer.New(k.source(""), informer.Options[*corev1.Pod]{Observe: quiet, Shard: shard.Static(half)})
			stops = append(stops, k.start(i))
			all = append(all, i)
		}
		k.create("pod", 100)
		total := 0
		for n, i := range all {
			require.NoError(t, i.WaitFresh(t.Context()))
			k.requireShare(i, nth(t, shard.ByUID, n, 2))
			require.Positive(t, i.Indexer().Len())
			total += i.Indexer().Len()
		}
		require.Len(t, k.now().Items, total)
	})
}

// The store shows the program's own writes of its share when the call returns, and no others, though the requests
// of the informer carry the share's selector.
func TestOwnWritesOfAShare(t *testing.T) {
	for name, storage := range map[string]informer.Storage{"decoded": {}, "transformed": {}, "packed": {Decoded: informer.NewBudget(1 << 20)}} {
		t.Run(name, func(t *testing.T) {
			eachGate(t, func(t *testing.T, k *kept, _ bool) {
				require.NoError(t, k.server.StartInMemory())
				config := k.server.ClientConfig()
				config.Wrap(reflector.NewOwnWrites().Wire)
				client, err := kubernetes.NewForConfig(config)
				require.NoError(t, err)
				half := nth(t, shard.ByUID, 1, 2)
				source := reflector.FromGenerated[*corev1.Pod](client.CoreV1().Pods(""), podsResource)
				o := informer.Options[*corev1.Pod]{Observe: quiet, Shard: shard.Static(half), Storage: storage}
				if name == "transformed" {
					o.Transform = func(p *corev1.Pod) (*corev1.Pod, error) {
						require.True(t, half.Has("", p.UID), "what is outside is not transformed")
						return p, nil
					}
				}
				i := informer.New(source, o)
				var recorded []string
				_, err = i.Handle(informer.HandlerFunc[*corev1.Pod](func(c informer.Change[*corev1.Pod]) {
					if !c.Initial {
						recorded = append(recorded, c.Kind.String())
					}
				}), informer.HandlerOptions{})
				require.NoError(t, err)
				defer k.start(i)()
				require.NoError(t, i.WaitFresh(t.Context()))
				resume := k.server.Stall(informertest.Request{Verb: "watch"})
				k.server.CutWatches()

				var want informer.OwnWrites
				var wantTold []string
				pods := client.CoreV1().Pods("default")
				for n := range 40 {
					p, err := pods.Create(t.Context(), podIn("default", fmt.Sprint("own-", n)), metav1.CreateOptions{})
					require.NoError(t, err)
					mine := half.Has("", p.UID)
					_, shown := i.Indexer().Get(indexer.Key{Namespace: "default", Name: p.Name})
					require.Equal(t, mine, shown)
					_, err = pods.Update(t.Context(), updated(p), metav1.UpdateOptions{})
					require.NoError(t, err)
					if n%2 == 0 {
						require.NoError(t, pods.Delete(t.Context(), p.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}))
						_, shown = i.Indexer().Get(indexer.Key{Namespace: "default", Name: p.Name})
						require.False(t, shown)
					}
					if count := uint64(3 - n%2); mine {
						want.Shown += count
						wantTold = append(wantTold, []string{"added", "updated", "deleted"}[:count]...)
					} else {
						want.Outside += count
					}
				}
				got := i.Status().OwnWrites
				want.Linked, want.Pending = true, got.Pending
				require.Equal(t, want, got)
				require.Positive(t, want.Shown)
				require.Positive(t, want.Outside)

				found, err := audit.Of(t.Context(), i.Shared())
				require.NoError(t, err)
				require.Empty(t, found.Differences)
				require.Positive(t, found.Pending)

				resume()
				require.NoError(t, i.WaitFresh(t.Context()))
				time.Sleep(time.Minute)
				synctest.Wait()
				require.Equal(t, wantTold, recorded, "each once")
				k.requireShare(i, half)
				require.Zero(t, i.Status().OwnWrites.Pending)
				require.Zero(t, i.Status().OwnWrites.Ghosts)
			})
		})
	}
}
