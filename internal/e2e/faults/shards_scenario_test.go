package faults

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/audit"
	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
	"github.com/tidemark-k8s/tidemark/reflector"
	"github.com/tidemark-k8s/tidemark/shard"
)

// filters makes a kube-apiserver send only the objects of a share.
const filters = "--feature-gates=ShardedListAndWatch=true"

// Replicas share the pods of a server that filters. Their number changes: all of them end before others
// start.
func TestScenario_ShardsFiltered(t *testing.T) {
	begin(t, harness.Options{Flags: []string{filters}}).shards("filters")
}

// The same with default flags. The server sends everything to each replica.
func TestScenario_ShardsUnfiltered(t *testing.T) {
	begin(t, harness.Options{}).shards("does not filter")
}

// shards lets 1, 2 and 4 replicas share the pods at 100 writes per second, while connections are cut,
// the server restarts, and the server does not know a version.
func (s *scenario) shards(server string) {
	n := size(400, 20_000)
	s.createPods(n)
	part := size(2*time.Second, 20*time.Second)
	for _, number := range []int{1, 2, 4} {
		proxy := s.proxy()
		r := s.replicate(number, proxy.Address())
		for _, fault := range []func(){
			func() {
				for range 3 {
					s.sleep(part / 3)
					proxy.Cut()
				}
			},
			func() {
				s.sleep(part)
				s.must(s.cluster.RestartAPIServer(s.ctx))
				s.sleep(part)
			},
			func() { // afterwards the server does not know the replicas' version
				proxy.Refuse()
				proxy.Cut()
				s.sleep(part)
				s.must(s.cluster.RestartAPIServer(s.ctx))
				s.must(proxy.Admit())
			},
		} {
			r.converge(false)
			c := s.churn(4, n, 40*time.Millisecond)
			fault()
			c.end()
			s.heal()
			r.converge(false)
			s.t.Logf("%d replicas, %d writes", number, c.written.Load())
		}
		reports := r.converge(number == 4) // takes some seconds
		for _, h := range reports {
			require.NotZero(s.t, h.Relists)
			if number > 1 {
				require.Equal(s.t, server, h.Shard.Server)
			}
			if number == 1 || server == "filters" {
				require.Zero(s.t, h.Shard.Foreign)
			} else {
				require.NotZero(s.t, h.Shard.Foreign)
			}
		}
		s.note = fmt.Sprintf("%d replicas were fresh after %v", number, slowest(reports))
		r.end() // before the next ones start
	}
	s.row(time.Since(s.healed))
}

// slowest returns the time until all replicas were as new as the server.
func slowest(reports []reported) (fresh time.Duration) {
	for _, r := range reports {
		fresh = max(fresh, r.Fresh)
	}
	return fresh.Round(time.Millisecond)
}

// A program reads its share of the config maps, and also writes those of other shares, while its watch
// is delayed by a second. It reads its own writes in its share at once, and never reads objects of other
// shares.
func TestScenario_ShardsOwnWrites(t *testing.T) {
	for name, flags := range map[string][]string{"filtered": {filters}, "unfiltered": nil} {
		t.Run(name, func(t *testing.T) { begin(t, harness.Options{Flags: flags}).ownWritesOfAShare() })
	}
}

func (s *scenario) ownWritesOfAShare() {
	t := s.t
	s.createNamespace(quietNamespace)
	own := reflector.NewOwnWrites()
	config := s.connect(s.behind(time.Second).Config())
	config.Wrap(own.Wire)
	client := kubernetes.NewForConfigOrDie(config)
	half, err := shareOf("1/2")
	s.must(err)
	cache := informer.New(configMaps(client), informer.Options[*corev1.ConfigMap]{Shard: shard.Static(half)})
	var mu sync.Mutex
	recorded := map[types.UID]bool{}
	_, err = cache.Handle(informer.HandlerFunc[*corev1.ConfigMap](func(c informer.Change[*corev1.ConfigMap]) {
		mu.Lock()
		defer mu.Unlock()
		if c.Kind == informer.Added {
			recorded[c.New.UID] = true
		}
	}), informer.HandlerOptions{})
	s.must(err)
	wait, err := cache.Start(s.ctx)
	s.must(err)
	t.Cleanup(func() { require.NoError(t, wait()) })
	s.must(cache.WaitSynced(s.ctx))

	maps := client.CoreV1().ConfigMaps(quietNamespace)
	var mine, others []types.UID
	shows := func(wrote *corev1.ConfigMap) {
		got, ok := cache.Indexer().Get(indexer.Key{Namespace: quietNamespace, Name: wrote.Name})
		if !half.Has(quietNamespace, wrote.UID) {
			require.False(t, ok, "%s is not in the share, but in the store", wrote.Name)
			return
		}
		require.True(t, ok, "%s was just written", wrote.Name)
		require.Equal(t, wrote.ResourceVersion, got.ResourceVersion)
	}
	foreignWrites := uint64(0)
	for n := range size(60, 1_000) {
		c, err := maps.Create(s.ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("map-", n)}}, metav1.CreateOptions{})
		s.must(err)
		shows(c)
		c.Data = map[string]string{"n": fmt.Sprint(n)}
		c, err = maps.Update(s.ctx, c, metav1.UpdateOptions{})
		s.must(err)
		shows(c)
		writes := uint64(2)
		if n%3 == 0 {
			s.must(maps.Delete(s.ctx, c.Name, metav1.DeleteOptions{}))
			_, ok := cache.Indexer().Get(indexer.Key{Namespace: quietNamespace, Name: c.Name})
			require.False(t, ok, "%s was just deleted", c.Name)
			writes++
		}
		if half.Has(quietNamespace, c.UID) {
			mine = append(mine, c.UID)
		} else {
			others = append(others, c.UID)
			foreignWrites += writes
		}
	}
	require.NotEmpty(t, mine)
	require.NotEmpty(t, others)
	s.must(cache.WaitFresh(s.ctx))
	s.must(cache.WaitDelivered(s.ctx, cache.Indexer().Version()))
	a, err := audit.Of(s.ctx, cache.Shared())
	s.must(err)
	require.Empty(t, a.Differences)
	status := cache.Status().OwnWrites
	require.Zero(t, status.Ghosts)
	require.Zero(t, status.Waiting)
	require.Equal(t, foreignWrites, status.Outside)
	mu.Lock()
	defer mu.Unlock()
	require.Len(t, recorded, len(mine))
	require.False(t, slices.ContainsFunc(others, func(uid types.UID) bool { return recorded[uid] }))
	s.note = fmt.Sprintf("%d own writes shown, %d outside of the share never shown", status.Shown, foreignWrites)
	t.Log(s.note)
	s.row(0)
}

// Two servers share an etcd, and one of them filters, as during a rollout. Connections alternate between
// them.
func TestScenario_ShardsOnMixedServers(t *testing.T) {
	s := begin(t, harness.Options{Flags: []string{filters}})
	n := size(400, 20_000)
	s.createPods(n)
	other, err := s.cluster.Another(s.ctx, "--feature-gates=ShardedListAndWatch=false")
	s.must(err)
	proxy := s.proxy()
	proxy.Target(s.cluster.Address(), other)
	r := s.replicate(2, proxy.Address())
	r.converge(false)
	c := s.churn(4, n, 40*time.Millisecond)
	for range size(6, 30) { // each replica connects to each server, with its current state, and with lists after an outage
		s.sleep(size(500*time.Millisecond, 2*time.Second))
		proxy.Cut()
	}
	c.end()
	s.heal()
	foreign := uint64(0)
	for _, h := range r.converge(true) {
		foreign += h.Shard.Foreign
	}
	require.NotZero(t, foreign, "one server does not filter")
	s.note = fmt.Sprintf("%d writes, %d foreign objects and events dropped", c.written.Load(), foreign)
	s.row(time.Since(s.healed))
}
