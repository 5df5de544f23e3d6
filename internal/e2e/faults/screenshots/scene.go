package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
)

// scene is a cluster, and an informer in each state. Each informer has its own factory, client and path
// to the server.
type scene struct {
	cluster *harness.Cluster
	admin   kubernetes.Interface
	ctx     context.Context // the context of the informers; ended by end
	cancel  context.CancelFunc
	working sync.WaitGroup // the goroutines that write into the cluster

	toSecrets                   *harness.Proxy
	toDeployments, toConfigMaps *harness.Gateway
	silencer                    silencer
	actors                      []actor
}

// actor is an informer and its intended state.
type actor struct {
	name    string
	state   string
	late    bool // starts shortly before the pictures are taken
	factory *factory.Factory
}

// newScene starts a cluster and makes the informers. They are not running yet.
func newScene(ctx context.Context, dir string) (*scene, error) {
	cluster, err := harness.Start(ctx, dir, harness.Options{})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &scene{cluster: cluster, ctx: ctx, cancel: cancel}
	if err := s.prepare(); err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

// prepare fills the cluster and makes the informers.
func (s *scene) prepare() (err error) {
	if s.admin, err = kubernetes.NewForConfig(s.cluster.Config()); err != nil {
		return err
	}
	if s.toSecrets, err = harness.NewProxy(s.cluster.Address()); err != nil {
		return err
	}
	if s.toDeployments, err = harness.NewGateway(s.cluster.Config()); err != nil {
		return err
	}
	if s.toConfigMaps, err = harness.NewGateway(s.cluster.Config()); err != nil {
		return err
	}
	s.toDeployments.Break(s.silencer.fault)
	s.toConfigMaps.Break(slow)
	if err := errors.Join(s.fill(), s.allow(true)); err != nil {
		return err
	}
	direct := s.cluster.Config()
	return errors.Join(
		s.add(actor{name: "pods", state: "healthy"}, direct, s.pods),
		s.add(actor{name: "nodes", state: "stuck"}, direct, s.nodes),
		s.add(actor{name: "services", state: "quarantined"}, direct, s.services),
		s.add(actor{name: "secrets", state: "parked"}, harness.Via(s.cluster.UserConfig(), s.toSecrets.Address()), s.secrets),
		s.add(actor{name: "deployments", state: "stale"}, s.toDeployments.Config(), s.deployments),
		s.add(actor{name: "configmaps", state: "syncing", late: true}, s.toConfigMaps.Config(), s.configMaps),
	)
}

// add makes an informer.
func (s *scene) add(a actor, config *rest.Config, of func(*factory.Factory) error) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	a.factory = factory.NewSharedInformerFactory(client, 0)
	s.actors = append(s.actors, a)
	return of(a.factory)
}

// informers returns all informers of the scene.
func (s *scene) informers() (all []iter.Seq[factory.Held]) {
	for _, a := range s.actors {
		all = append(all, a.factory.Informers())
	}
	return all
}

// play runs the informers and injects the faults. It returns when the page at a URL shows that each
// informer is in its state.
func (s *scene) play(ctx context.Context, url string) error {
	for _, a := range s.actors {
		if !a.late {
			a.factory.StartWithContext(s.ctx)
		}
	}
	s.work()
	if err := s.bookmarked(ctx, url); err != nil {
		return err
	}
	if err := s.allow(false); err != nil {
		return err
	}
	s.toSecrets.Cut()
	s.silencer.on.Store(true)
	if err := wait(ctx, 125*time.Second); err != nil {
		return err
	}
	for _, a := range s.actors {
		if a.late {
			a.factory.StartWithContext(s.ctx)
		}
	}
	if err := wait(ctx, 10*time.Second); err != nil {
		return err
	}
	seen, err := read(ctx, url)
	if err != nil {
		return err
	}
	return s.check(seen)
}

// bookmarked waits until the informer with the intended state stale has received a bookmark. After that,
// two minutes of silence make it stale.
func (s *scene) bookmarked(ctx context.Context, url string) error {
	for range 150 {
		if err := wait(ctx, time.Second); err != nil {
			return err
		}
		seen, err := read(ctx, url)
		if err != nil {
			return err
		}
		for n, i := range seen {
			if s.actors[n].state == "stale" && i.Totals.Bookmarks > 0 {
				return nil
			}
		}
	}
	return fmt.Errorf("%w: no bookmark has arrived", errState)
}

// check returns an error unless each informer is in its state. The informers are in the order of the
// actors.
func (s *scene) check(seen []shownInformer) error {
	for n, a := range s.actors {
		if i := seen[n]; i.State != a.state {
			return fmt.Errorf("%w: %s is %s, not %s: %v", errState, a.name, i.State, a.state, i.Findings)
		}
	}
	return nil
}

// end stops the informers, the writers and the servers.
func (s *scene) end() {
	s.cancel()
	s.working.Wait()
	for _, a := range s.actors {
		a.factory.Shutdown()
	}
	if s.toSecrets != nil {
		s.toSecrets.Close()
	}
	for _, g := range []*harness.Gateway{s.toDeployments, s.toConfigMaps} {
		if g != nil {
			g.Close()
		}
	}
	s.cluster.Kill()
}

// wait waits for a duration, or until ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
