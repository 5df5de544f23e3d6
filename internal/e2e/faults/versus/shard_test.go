package versus

import (
	"fmt"
	"testing"
)

// BenchmarkShards measures one of 1, 2 and 4 replicas that share the pods, on a kube-apiserver that
// filters. A single replica, and client-go's informers, hold everything.
func BenchmarkShards(b *testing.B) {
	newWorld(b, "--feature-gates=ShardedListAndWatch=true").shards()
}

// BenchmarkShardsUnfiltered is BenchmarkShards on a kube-apiserver with default flags, which does not
// filter.
func BenchmarkShardsUnfiltered(b *testing.B) { newWorld(b).shards() }

func (w *world) shards() {
	w.holdPods(*podCount, varied)
	w.replicas("typed", task{})
	w.replicas("dynamic", task{Informers: dynamicPods, Wired: true})
}

func (w *world) replicas(name string, t task) {
	w.each(name+"-1", t, w.sync)
	for _, n := range []int{2, 4} {
		t.Shard = fmt.Sprintf("0/%d", n)
		w.ours(fmt.Sprintf("%s-%d", name, n), t, w.sync)
	}
}

// ownOf returns the number of pods in a share, or the number of all objects if the share is empty.
func (w *world) ownOf(nth string) (n int) {
	if nth == "" {
		return w.total()
	}
	share := shareOf(nth)
	for i := range w.made.Pods() {
		if pod := w.pod(i); share.Has(pod.Namespace, pod.UID) {
			n++
		}
	}
	return n
}
