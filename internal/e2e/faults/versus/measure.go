package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
)

// namespaces is how many the pods are in.
const namespaces = 50

// bench is a control plane with pods, and what measured processes are made of.
type bench struct {
	config
	ctx     context.Context
	cluster *harness.Cluster
	proxy   *harness.Proxy
	client  kubernetes.Interface
	round   int
}

// work is one thing to measure.
type work struct {
	name string
	do   func(b *bench, t task) (sample, error)
}

var works = []work{
	{"sync by WatchList", func(b *bench, t task) (sample, error) { return b.sync(t) }},
	{"sync by LIST", func(b *bench, t task) (sample, error) { t.Lists = true; return b.sync(t) }},
	{"relist after a 410, 1 % changed", (*bench).relist},
	{"the same, with SkipUnchanged", func(b *bench, t task) (sample, error) { t.Skip = true; return b.relist(t) }},
	{"500 updates/s, 1 handler", func(b *bench, t task) (sample, error) { t.Handlers = 1; return b.updates500(t) }},
	{"500 updates/s, 16 handlers", func(b *bench, t task) (sample, error) { t.Handlers = 16; return b.updates500(t) }},
	{"50 informers reconnect", (*bench).storm},
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
			for k := range r.samples {
				i := (round + k) % len(r.samples) // neither always comes second
				s, err := w.do(b, b.task(i == 1))
				if err != nil {
					return nil, fmt.Errorf("%s: %w", w.name, err)
				}
				r.samples[i] = append(r.samples[i], s)
			}
		}
		results = append(results, r)
	}
	return results, nil
}

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
		s, err = p.await(order{Total: b.pods})
	}
	if err != nil {
		p.end()
	}
	return p, s, err
}

func (p *process) await(o order) (sample, error) {
	s, err := p.ask(o)
	if s.Error != "" {
		err = errors.New(s.Error)
	}
	return s, err
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
	s, err := p.await(order{Round: round, Pods: changed, Total: b.pods})
	s.Latencies = nil // of a relist, they are those of updates long ago
	return s, err
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
	s, err := p.await(order{Round: round, Pods: changed, Total: b.pods})
	s.Latencies = nil // of a relist, they are those of updates long ago
	return s, err
}

// updates500 measures the time from the moment before an update is sent to
// that of the handler's call.
func (b *bench) updates500(t task) (sample, error) {
	p, _, err := b.started(t)
	if err != nil {
		return sample{}, err
	}
	defer p.end()
	if _, err := p.ask(order{Begin: true}); err != nil {
		return sample{}, err
	}
	b.round++
	round := fmt.Sprint("round-", b.round)
	tick := time.NewTicker(time.Second / 500)
	defer tick.Stop()
	err = harness.Each(b.ctx, harness.Creators, min(b.updates, b.pods), func(ctx context.Context, i int) error {
		<-tick.C
		patch := fmt.Sprintf(`{"metadata":{"annotations":{"round":%q,"sent":"%d"}}}`, round, time.Now().UnixNano())
		return b.patch(ctx, i, patch)
	})
	if err != nil {
		return sample{}, err
	}
	return p.await(order{Round: round, Pods: min(b.updates, b.pods), Total: b.pods})
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
	slices.Sort(all)
	return all[len(all)/2]
}
