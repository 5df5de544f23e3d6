package main

import (
	"context"

	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit/cluster"
)

// started is a process that has synced, and what that took.
func (s *stage) started(t task) (*process, sample, error) {
	total, err := s.total()
	if err != nil {
		return nil, sample{}, err
	}
	p, err := spawn(s.ctx, t)
	if err != nil {
		return nil, sample{}, err
	}
	_, err = p.ask(order{Begin: true})
	var synced sample
	if err == nil {
		synced, err = p.ask(order{Total: total})
	}
	if err != nil {
		p.end()
	}
	return p, synced, err
}

func (s *stage) sync(t task) (sample, error) {
	p, synced, err := s.started(t)
	if err == nil {
		p.end()
	}
	return synced, err
}

// relist cuts the process off, changes one pod in a hundred, and starts the
// kube-apiserver anew, which does not know the old version any more.
func (s *stage) relist(t task) (sample, error) {
	p, _, err := s.started(t)
	if err != nil {
		return sample{}, err
	}
	defer p.end()
	s.proxy.Refuse()
	s.proxy.Cut()
	var changed []int
	for i := 0; i < s.made.Pods(); i += 100 {
		changed = append(changed, i)
	}
	round, err := s.touch(changed)
	if err != nil {
		return sample{}, err
	}
	if err := s.cluster.RestartAPIServer(s.ctx); err != nil {
		return sample{}, err
	}
	if err := s.settle(); err != nil {
		return sample{}, err
	}
	if _, err := p.ask(order{Begin: true}); err != nil {
		return sample{}, err
	}
	if err := s.proxy.Admit(); err != nil {
		return sample{}, err
	}
	return p.ask(order{Round: round, Pods: len(changed), Total: s.made.Pods()})
}

// storm cuts off an informer for each namespace.
func (s *stage) storm(t task) (sample, error) {
	p, _, err := s.started(t)
	if err != nil {
		return sample{}, err
	}
	defer p.end()
	if _, err := p.ask(order{Begin: true}); err != nil {
		return sample{}, err
	}
	s.proxy.Cut()
	changed := s.firsts()
	round, err := s.touch(changed)
	if err != nil {
		return sample{}, err
	}
	return p.ask(order{Round: round, Pods: len(changed), Total: s.made.Pods()})
}

// firsts are the first pods of each namespace.
func (s *stage) firsts() (all []int) {
	seen := map[string]bool{}
	for i := 0; i < s.made.Pods() && len(seen) < cluster.Namespaces; i++ {
		if namespace := s.made.NamespaceOf(i); !seen[namespace] {
			seen[namespace] = true
			all = append(all, i)
		}
	}
	return all
}

// touch changes some pods. They do not tell when: what is old by the time that it
// is seen must not count as latency.
func (s *stage) touch(pods []int) (round string, err error) {
	round = s.nextRound()
	return round, harness.Each(s.ctx, storers, len(pods), func(ctx context.Context, i int) error {
		pod := s.pod(pods[i])
		pod.Annotations[roundAnnotation] = round
		return s.cluster.Store(ctx, "pods", pod)
	})
}
