package versus

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit/cluster"
)

// BenchmarkPods measures informers of pods with repeated templates.
func BenchmarkPods(b *testing.B) {
	w := newWorld(b)
	w.holdPods(*podCount, varied)
	w.each("sync-stream", task{}, w.sync)
	w.each("sync-list", task{Lists: true}, w.sync)
	w.ours("sync-dropped", task{Fields: dropped}, w.sync)
	w.ours("sync-packed", task{Storage: packed}, w.sync)
	w.ours("sync-packed-keys", task{Storage: packed, Keys: true}, w.sync)
	w.each("sync-stripped", task{Fields: stripped}, w.sync)
	w.each("relist-stream", task{}, w.relist)
	w.each("relist-list", task{Lists: true}, w.relist)
	w.updates("updates-1", task{})
	w.updates("updates-16", task{Handlers: 16})
	w.updates("updates-packed", task{Storage: packed})
	w.each("reconnect", task{Informers: podsByNamespace}, w.reconnect)
}

// BenchmarkUniquePods measures an informer of pods that share nothing.
func BenchmarkUniquePods(b *testing.B) {
	w := newWorld(b)
	w.holdPods(*podCount/2, unique)
	w.each("sync", task{}, w.sync)
}

// BenchmarkDatabases measures an informer of a custom resource.
func BenchmarkDatabases(b *testing.B) {
	w := newWorld(b)
	w.holdDatabases(*podCount / 2)
	w.each("sync-dynamic", task{Informers: dynamicDatabases, Wired: true}, w.sync)
	w.ours("sync-dynamic-dropped", task{Informers: dynamicDatabases, Wired: true, Fields: dropped}, w.sync)
	w.each("sync-typed", task{Informers: typedDatabases}, w.sync)
}

// BenchmarkKinds measures informers of twenty kinds, which have three times as many objects as there are
// pods.
func BenchmarkKinds(b *testing.B) {
	w := newWorld(b)
	w.made = cluster.New(seed, *podCount)
	w.hold(w.made.Kinds()...)
	w.each("sync", task{Informers: allKinds}, w.sync)
	w.each("sync-controllers", task{Informers: controllerCaches, Fields: stripped}, w.sync)
}

// BenchmarkManager measures a controller-runtime manager: its sync, and its work while it creates pods.
func BenchmarkManager(b *testing.B) {
	w := newWorld(b)
	w.defineWidgets()
	w.holdPods(*podCount, varied)
	w.each("sync-stripped", task{Informers: managerPods}, w.sync)
	fleet := w.buildFleet()
	w.each("work", task{}, func(b *testing.B, impl string, _ task) sample { return w.manage(b, impl, fleet) })
}

// each runs a benchmark for each implementation.
func (w *world) each(name string, t task, measure func(b *testing.B, impl string, t task) sample) {
	for _, impl := range []string{clientgo, ours} {
		w.one(name, impl, t, measure)
	}
}

// ours runs a benchmark only for tidemark, because client-go does the same work in another benchmark.
func (w *world) ours(name string, t task, measure func(b *testing.B, impl string, t task) sample) {
	w.one(name, ours, t, measure)
}

func (w *world) one(name, impl string, t task, measure func(b *testing.B, impl string, t task) sample) {
	w.b.Run(name+"/impl="+impl, func(b *testing.B) {
		var last sample
		for range b.N {
			last = measure(b, impl, t)
		}
		last.report(b)
	})
}

// started returns a synced process, and the measurement of the sync.
func (w *world) started(b *testing.B, impl string, t task) (*measuredProcess, sample) {
	total := w.ownOf(t.Shard)
	p := w.spawn(b, impl, t)
	p.ask(order{Begin: true})
	return p, p.ask(order{Total: total})
}

func (w *world) sync(b *testing.B, impl string, t task) sample {
	_, synced := w.started(b, impl, t)
	return synced
}

// relist disconnects the process, changes one pod in a hundred, and restarts the kube-apiserver, so that
// the server no longer knows the process's version.
func (w *world) relist(b *testing.B, impl string, t task) sample {
	p, _ := w.started(b, impl, t)
	w.proxy.Refuse()
	w.proxy.Cut()
	var changed []int
	for i := 0; i < w.made.Pods(); i += 100 {
		changed = append(changed, i)
	}
	round := w.touch(changed)
	require.NoError(b, w.cluster.RestartAPIServer(b.Context()))
	w.settle()
	p.ask(order{Begin: true})
	require.NoError(b, w.proxy.Admit())
	return p.ask(order{Round: round, Pods: len(changed), Total: w.made.Pods()})
}

// reconnect disconnects the informers of all namespaces, and changes one pod in each namespace.
func (w *world) reconnect(b *testing.B, impl string, t task) sample {
	p, _ := w.started(b, impl, t)
	p.ask(order{Begin: true})
	w.proxy.Cut()
	changed := w.firsts()
	round := w.touch(changed)
	return p.ask(order{Round: round, Pods: len(changed), Total: w.made.Pods()})
}

// firsts returns the first pod of each namespace.
func (w *world) firsts() (all []int) {
	seen := map[string]bool{}
	for i := 0; i < w.made.Pods() && len(seen) < cluster.Namespaces; i++ {
		if namespace := w.made.NamespaceOf(i); !seen[namespace] {
			seen[namespace] = true
			all = append(all, i)
		}
	}
	return all
}

const (
	writers = 8 // number of goroutines that write updates
	pace    = time.Second / 1000
)

// updates measures the time from just before an update is written to each handler's call. Most of this
// time is the server's, and varies between runs. Therefore both implementations watch the same updates:
// the benchmark of the first one measures both, and the benchmark of the second one only reports its
// sample.
func (w *world) updates(name string, t task) {
	var samples map[string]sample
	for _, impl := range []string{clientgo, ours} {
		w.b.Run(name+"/impl="+impl, func(b *testing.B) {
			if samples[impl].Wall == 0 {
				samples = w.updateBoth(b, t)
			}
			samples[impl].report(b)
			b.ReportMetric(float64(samples[impl].CPU)/float64(w.updated()), "cpu-ns/event")
		})
	}
}

// updated returns the number of updated pods. Each is updated once, so that an informer that relists
// meanwhile misses no updates.
func (w *world) updated() int { return min(*updateCount, w.made.Pods()) }

func (w *world) updateBoth(b *testing.B, t task) map[string]sample {
	pods := make([]*corev1.Pod, w.updated()) // made in advance, because there is no time for this later
	for i := range pods {
		pods[i] = w.pod(i)
	}
	processes := map[string]*measuredProcess{}
	for _, impl := range []string{clientgo, ours} {
		processes[impl], _ = w.started(b, impl, t)
	}
	askAll(processes, order{Begin: true})
	round := w.update(b, pods)
	return askAll(processes, order{Round: round, Pods: len(pods), Calls: max(t.Handlers, 1) * len(pods), Total: w.made.Pods()})
}

// askAll sends the processes the same order at the same time.
func askAll(processes map[string]*measuredProcess, o order) map[string]sample {
	for _, p := range processes {
		p.send(o)
	}
	samples := map[string]sample{}
	for impl, p := range processes {
		samples[impl] = p.answer()
	}
	return samples
}

// update writes updates into etcd. Through its API, a kube-apiserver on two processors handles fewer
// than 200 such updates per second, and the benchmark would measure the request queue.
func (w *world) update(b *testing.B, pods []*corev1.Pod) (round string) {
	round = w.nextRound()
	began := time.Now()
	require.NoError(b, harness.Each(b.Context(), writers, len(pods), func(ctx context.Context, i int) error {
		time.Sleep(time.Until(began.Add(time.Duration(i) * pace)))
		pods[i].Annotations[roundAnnotation] = round
		pods[i].Annotations[sentAnnotation] = fmt.Sprint(time.Now().UnixNano())
		return w.cluster.Store(ctx, "pods", pods[i])
	}))
	return round
}
