package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
)

const (
	namespaces = 50 // that the pods are in
	storers    = 8  // how many updates are written at a time
)

// bench is a control plane with pods, and what measured processes are made of.
type bench struct {
	config
	ctx     context.Context
	cluster *harness.Cluster
	proxy   *harness.Proxy
	client  kubernetes.Interface
	round   int
}

// work is one thing to measure. A round measures each implementation once: one
// after the other, or both at once where what they are told decides and is not
// the same twice.
type work struct {
	name  string
	round func(b *bench, round int) ([2]sample, error)
}

var works = []work{
	{"sync by WatchList", inTurn((*bench).sync)},
	{"sync by LIST", inTurn(func(b *bench, t task) (sample, error) { t.Lists = true; return b.sync(t) })},
	{"relist after a 410, 1 % changed", inTurn((*bench).relist)},
	{"the same, with SkipUnchanged", inTurn(func(b *bench, t task) (sample, error) { t.Skip = true; return b.relist(t) })},
	{"500 updates/s, 1 handler", updates500(1)},
	{"500 updates/s, 16 handlers", updates500(16)},
	{"50 informers reconnect", inTurn((*bench).storm)},
}

// result is a work and its samples by implementation: client-go, tidemark.
type result struct {
	name    string
	samples [2][]sample
}

func measureAll(ctx context.Context, c config) ([]result, error) {
	b := &bench{config: c, ctx: ctx}
	dir, err := os.MkdirTemp("", "tidemark-versus-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // what is left of it is in the temporary folder
	if b.cluster, err = harness.Start(ctx, dir, harness.Options{}); err != nil {
		return nil, err
	}
	defer b.cluster.Kill()
	if b.proxy, err = harness.NewProxy(b.cluster.Address()); err != nil {
		return nil, err
	}
	defer b.proxy.Close()
	if b.client, err = kubernetes.NewForConfig(b.cluster.Config()); err != nil {
		return nil, err
	}
	fmt.Fprintf(os.Stderr, "versus: creating %d pods\n", c.pods)
	if err := harness.CreatePods(ctx, b.client, c.pods, namespaces); err != nil {
		return nil, err
	}
	var results []result
	for _, w := range works {
		if !c.only.MatchString(w.name) {
			continue
		}
		fmt.Fprintln(os.Stderr, "versus:", w.name)
		r := result{name: w.name}
		for round := range c.rounds {
			samples, err := w.round(b, round)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", w.name, err)
			}
			for i, s := range samples {
				r.samples[i] = append(r.samples[i], s)
			}
		}
		results = append(results, r)
	}
	return results, nil
}

// inTurn measures one implementation after the other.
func inTurn(do func(*bench, task) (sample, error)) func(*bench, int) ([2]sample, error) {
	return func(b *bench, round int) (samples [2]sample, err error) {
		for _, i := range turns(round) {
			if samples[i], err = do(b, b.task(i == 1)); err != nil {
				break
			}
		}
		return samples, err
	}
}

// turns is the order of the implementations in a round: neither always comes second.
func turns(round int) [2]int { return [2]int{round % 2, 1 - round%2} }

func (b *bench) task(tidemark bool) task {
	config := harness.Via(b.cluster.Config(), b.proxy.Address())
	return task{Tidemark: tidemark, Handlers: 1, Host: config.Host, Token: config.BearerToken, CAFile: config.CAFile}
}

// started is a process that has synced, and what that took.
func (b *bench) started(t task) (*process, sample, error) {
	p, err := spawn(b.ctx, t)
	if err != nil {
		return nil, sample{}, err
	}
	_, err = p.ask(order{Begin: true})
	var s sample
	if err == nil {
		s, err = p.ask(order{Calls: t.Handlers * b.pods, Total: b.pods})
	}
	if err != nil {
		p.end()
	}
	return p, s, err
}

func (b *bench) sync(t task) (sample, error) {
	p, s, err := b.started(t)
	if err == nil {
		p.end()
	}
	return s, err
}

// relist cuts the process off, changes one pod in a hundred, and starts the
// kube-apiserver anew, which does not know the old version any more.
func (b *bench) relist(t task) (sample, error) {
	p, _, err := b.started(t)
	if err != nil {
		return sample{}, err
	}
	defer p.end()
	b.proxy.Refuse()
	b.proxy.Cut()
	round, changed, err := b.touch(b.pods, 100)
	if err != nil {
		return sample{}, err
	}
	if err := b.cluster.RestartAPIServer(b.ctx); err != nil {
		return sample{}, err
	}
	if _, err := p.ask(order{Begin: true}); err != nil {
		return sample{}, err
	}
	if err := b.proxy.Admit(); err != nil {
		return sample{}, err
	}
	return p.ask(order{Round: round, Pods: changed, Total: b.pods})
}

// storm cuts off as many informers as there are namespaces.
func (b *bench) storm(t task) (sample, error) {
	t.Split = namespaces
	p, _, err := b.started(t)
	if err != nil {
		return sample{}, err
	}
	defer p.end()
	if _, err := p.ask(order{Begin: true}); err != nil {
		return sample{}, err
	}
	b.proxy.Cut()
	round, changed, err := b.touch(namespaces, 1)
	if err != nil {
		return sample{}, err
	}
	return p.ask(order{Round: round, Pods: changed, Total: b.pods})
}

// updates500 measures the time from the moment before an update is written to
// that of each handler's call. Most of it is the server's, which differs from run
// to run, so both implementations watch the same updates.
func updates500(handlers int) func(*bench, int) ([2]sample, error) {
	return func(b *bench, round int) (samples [2]sample, err error) {
		pods, err := b.some()
		if err != nil {
			return samples, err
		}
		var processes [2]*process
		for _, i := range turns(round) {
			t := b.task(i == 1)
			t.Handlers = handlers
			if processes[i], _, err = b.started(t); err != nil {
				return samples, err
			}
			defer processes[i].end()
		}
		if _, err := askBoth(processes, order{Begin: true}); err != nil {
			return samples, err
		}
		mark, n, err := b.update500(pods)
		if err != nil {
			return samples, err
		}
		return askBoth(processes, order{Round: mark, Pods: n, Calls: handlers * n, Total: b.pods})
	}
}

// update500 writes updates of some pods, 500 a second, into etcd. By its API, a
// kube-apiserver on two processors takes less than 200 a second of such pods, and
// what would be measured is the queue before it.
func (b *bench) update500(pods []corev1.Pod) (round string, n int, err error) {
	b.round++
	round, n = fmt.Sprint("round-", b.round), len(pods)
	began := time.Now()
	tick := time.NewTicker(time.Second / 500)
	defer tick.Stop()
	err = harness.Each(b.ctx, storers, n, func(ctx context.Context, i int) error {
		<-tick.C
		pod := &pods[i]
		pod.Annotations[roundAnnotation] = round
		pod.Annotations[sentAnnotation] = fmt.Sprint(time.Now().UnixNano())
		return b.cluster.StorePod(ctx, pod)
	})
	fmt.Fprintf(os.Stderr, "versus: %.0f updates/s\n", float64(n)/time.Since(began).Seconds())
	return round, n, err
}

// some returns the pods to be updated, of all namespaces.
func (b *bench) some() ([]corev1.Pod, error) {
	pods, err := b.client.CoreV1().Pods("").List(b.ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	rand.Shuffle(len(pods.Items), func(i, j int) { pods.Items[i], pods.Items[j] = pods.Items[j], pods.Items[i] })
	return slices.Clone(pods.Items[:min(b.updates, len(pods.Items))]), nil // the others are garbage
}

// touch changes every step-th of the first n pods.
func (b *bench) touch(n, step int) (round string, changed int, err error) {
	b.round++
	round = fmt.Sprint("round-", b.round)
	changed = (n + step - 1) / step
	err = harness.Each(b.ctx, harness.Creators, changed, func(ctx context.Context, i int) error {
		// Without the time: what is old must not count as latency.
		return b.patch(ctx, i*step, fmt.Sprintf(`{"metadata":{"annotations":{"round":%q,"sent":null}}}`, round))
	})
	return round, changed, err
}

func (b *bench) patch(ctx context.Context, i int, patch string) error {
	_, err := b.client.CoreV1().Pods(harness.Namespace(i%namespaces)).
		Patch(ctx, harness.PodName(i), types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

// median returns the median of something of the samples.
func median(samples []sample, of func(sample) float64) float64 {
	var all []float64
	for _, s := range samples {
		all = append(all, of(s))
	}
	return middle(all)
}

func middle(all []float64) float64 {
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}
