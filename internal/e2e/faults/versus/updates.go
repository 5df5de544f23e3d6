package main

import (
	"context"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
)

const (
	storers = 8 // how many updates are written at a time
	pace    = time.Second / 1000
)

// atOnce measures the time from the moment before an update is written to that
// of each handler's call. Most of it is the server's, which differs from run to
// run, so both implementations watch the same updates.
func atOnce(s *stage, tasks [2]task, round int) (samples [2]sample, err error) {
	pods := s.updated()
	var processes [2]*process
	for _, i := range turns(round) {
		if processes[i], _, err = s.started(tasks[i]); err != nil {
			return samples, err
		}
		defer processes[i].end()
	}
	if _, err := askBoth(processes, order{Begin: true}); err != nil {
		return samples, err
	}
	mark, err := s.update(pods)
	if err != nil {
		return samples, err
	}
	samples, err = askBoth(processes, order{Round: mark, Pods: len(pods), Calls: tasks[0].Handlers * len(pods), Total: s.made.Pods()})
	for i := range samples {
		samples[i].Events = len(pods)
	}
	return samples, err
}

// updated makes the pods that will be updated, since there is no time for it
// then. Each is updated once: who loses its watch and lists misses no update.
func (s *stage) updated() []*corev1.Pod {
	pods := make([]*corev1.Pod, min(s.updates, s.made.Pods()))
	for i := range pods {
		pods[i] = s.pod(i)
	}
	return pods
}

// update writes updates of pods into etcd. By its API, a kube-apiserver on two
// processors takes less than 200 a second of such pods, and what would be
// measured is the queue before it.
func (s *stage) update(pods []*corev1.Pod) (round string, err error) {
	round = s.nextRound()
	began := time.Now()
	err = harness.Each(s.ctx, storers, len(pods), func(ctx context.Context, i int) error {
		time.Sleep(time.Until(began.Add(time.Duration(i) * pace)))
		pods[i].Annotations[roundAnnotation] = round
		pods[i].Annotations[sentAnnotation] = fmt.Sprint(time.Now().UnixNano())
		return s.cluster.Store(ctx, "pods", pods[i])
	})
	fmt.Fprintf(os.Stderr, "versus: %.0f updates/s\n", float64(len(pods))/time.Since(began).Seconds())
	return round, err
}
