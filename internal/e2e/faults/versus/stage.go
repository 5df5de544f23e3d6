package main

import (
	"context"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit/cluster"
)

// stage is a control plane that holds the objects of a world.
type stage struct {
	config
	ctx     context.Context
	world   *world
	dir     string
	cluster *harness.Cluster
	proxy   *harness.Proxy
	client  dynamic.Interface
	made    *cluster.Cluster
	pod     func(i int) *corev1.Pod
	held    []cluster.Kind // by the informers
	round   int            // of the last updates
}

// open starts the servers and fills them.
func open(ctx context.Context, c config, w *world) (s *stage, err error) {
	fmt.Fprintln(os.Stderr, "versus: making", w.name)
	s = &stage{config: c, ctx: ctx, world: w}
	if s.dir, err = os.MkdirTemp("", "tidemark-versus-"); err != nil {
		return nil, err
	}
	if err = s.start(); err == nil {
		err = w.fill(s)
	}
	if err == nil {
		err = s.settle()
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *stage) start() (err error) {
	if s.cluster, err = harness.Start(s.ctx, s.dir, harness.Options{}); err != nil {
		return err
	}
	if s.proxy, err = harness.NewProxy(s.cluster.Address()); err != nil {
		return err
	}
	config := s.cluster.Config()
	config.ContentConfig.ContentType, config.AcceptContentTypes = "", "" // not all is to be had in protobuf
	s.client, err = dynamic.NewForConfig(config)
	return err
}

// close ends the servers. What is left of their data is in the temporary folder.
func (s *stage) close() {
	if s.proxy != nil {
		s.proxy.Close()
	}
	if s.cluster != nil {
		s.cluster.Kill()
	}
	_ = os.RemoveAll(s.dir) // see above
}

// store writes all objects of a kind into etcd.
func (s *stage) store(k cluster.Kind) error {
	return harness.Each(s.ctx, harness.Creators, k.Count, func(ctx context.Context, i int) error {
		return s.cluster.Store(ctx, k.Stored, k.Make(i))
	})
}

// hold writes kinds into etcd that the informers will hold.
func (s *stage) hold(kinds ...cluster.Kind) error {
	for _, k := range kinds {
		if err := s.store(k); err != nil {
			return err
		}
	}
	s.held = kinds
	return nil
}

// settle waits until the kube-apiserver serves all that was written.
func (s *stage) settle() error {
	for _, k := range s.held {
		if err := s.served(k.Resource); err != nil {
			return err
		}
	}
	return nil
}

// served waits until the kube-apiserver answers for a resource, from a cache
// that has caught up with etcd.
func (s *stage) served(resource schema.GroupVersionResource) error {
	var last error
	err := wait.PollUntilContextTimeout(s.ctx, 100*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		_, last = s.client.Resource(resource).List(ctx, metav1.ListOptions{Limit: 1})
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("%v is not served: %w; %w", resource, err, last)
	}
	return nil
}

// total is how many objects the informers are to hold: those that were made,
// and the few that the kube-apiserver makes itself.
func (s *stage) total() (n int, err error) {
	for _, k := range s.held {
		count, err := s.cluster.Count(s.ctx, k.Stored)
		if err != nil {
			return 0, err
		}
		n += count
	}
	return n, nil
}

// nextRound is what updates carry that belong together.
func (s *stage) nextRound() string {
	s.round++
	return fmt.Sprint("round-", s.round)
}
