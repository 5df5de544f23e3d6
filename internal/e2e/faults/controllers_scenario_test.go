package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/dynamic"

	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
)

// controller is a program with tidemark, the objects that it works for, and a check of its results.
type controller struct {
	name    string
	objects objects
	differs func() error
	process *harness.Process
}

// objects creates, removes and scales the objects of a controller by number.
type objects struct {
	create, remove func(ctx context.Context, i int) error
	scale          func(ctx context.Context, i, replicas int) error
}

// Programs like those of users create, scale and clean up objects while servers, connections and the
// programs fail: the example of a controller, a controller-runtime manager with a CRD that has a Go type
// (fleet), the example with controller-runtime, which counts the manager's pods, and the example with a
// CRD, whose typed and dynamic informers print their events.
func TestScenario_ControllersKeepUp(t *testing.T) {
	t.Parallel() // it mostly waits
	s := begin(t, harness.Options{})
	s.must(harness.CreateNamespaces(s.ctx, s.admin, teams))
	client := dynamic.NewForConfigOrDie(s.connect(s.dynamicConfig()))
	s.createCRD(client)
	s.createCronTabs(client)
	proxy := s.proxy()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	s.must(s.cluster.WriteKubeconfig(kubeconfig, proxy.Address()))

	summaries := s.controller("examples/controller", kubeconfig)
	summaries.objects, summaries.differs = s.deployments(), s.summariesDiffer
	fleet := s.controller("internal/e2e/faults/fleet", kubeconfig)
	fleet.objects, fleet.differs = s.widgetObjects(client), func() error { return s.fleetDiffers(client) }
	counter := s.controller("examples/controllerruntime", kubeconfig)
	counter.differs = func() error { return s.countsDiffer(counter.process) }
	crd := s.controller("examples/crd", kubeconfig)
	crd.objects, crd.differs = s.cronTabs(client), func() error { return s.cronTabsDiffer(client, crd.process) }

	all := []*controller{summaries, fleet, counter, crd}
	n := size(20, 200)
	end := s.work(n, summaries, fleet, crd)
	for range size(1, 4) {
		s.trouble(proxy, summaries, fleet)
	}
	done := end()
	for _, c := range all {
		if c.objects.remove != nil {
			s.must(harness.Each(s.ctx, 4, n/4, s.insist(c.objects.remove)))
		}
	}
	s.heal()
	for _, c := range all {
		s.eventually(c.name+": the end state is correct", c.differs)
		require.NoError(t, c.process.Signal(0), "%s runs still", c.name)
	}
	s.note = fmt.Sprintf("%d objects created, scaled or removed meanwhile", done)
	s.row(time.Since(s.healed))
}

// teams is the number of namespaces with objects.
const teams = 4

// controller builds the program in a folder, and runs it until the end of the test.
func (s *scenario) controller(folder, kubeconfig string) *controller {
	s.t.Helper()
	c := &controller{name: filepath.Base(folder)}
	path := filepath.Join(s.t.TempDir(), c.name)
	build := exec.Command("go", "build", "-buildvcs=false", "-o", path, ".")
	build.Dir = filepath.Join("../../..", folder)
	text, err := build.CombinedOutput()
	require.NoError(s.t, err, "%s", text)
	c.process = harness.NewProcess(path, s.t.TempDir(), "KUBECONFIG="+kubeconfig)
	s.must(c.process.Start(s.ctx))
	s.t.Cleanup(func() {
		c.process.Terminate()
		if s.t.Failed() {
			s.t.Log(c.process.LogTail())
		}
	})
	return c
}

// work creates, scales and removes objects of controllers at random until end is called. end returns the
// number of successful operations.
func (s *scenario) work(n int, controllers ...*controller) (end func() int64) {
	ctx, cancel := context.WithCancel(s.ctx)
	var working sync.WaitGroup
	var done atomic.Int64
	for c, one := range controllers {
		working.Go(func() {
			random := rand.New(rand.NewPCG(9, uint64(c)))
			for ctx.Err() == nil {
				// An operation does not end with ctx, so that nothing changes after end.
				if one.objects.once(context.WithoutCancel(ctx), random, n) == nil {
					done.Add(1)
				}
				select {
				case <-time.After(20 * time.Millisecond):
				case <-ctx.Done():
				}
			}
		})
	}
	end = func() int64 { cancel(); working.Wait(); return done.Load() }
	s.t.Cleanup(func() { end() })
	return end
}

// once creates, scales or removes one of the first n objects. It may fail during a fault, or because the
// object already exists or does not exist.
func (o objects) once(ctx context.Context, random *rand.Rand, n int) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	i := random.IntN(n)
	switch random.IntN(4) {
	case 0:
		return o.remove(ctx, i)
	case 1:
		return o.scale(ctx, i, random.IntN(6))
	}
	return o.create(ctx, i)
}

// insist returns a function that repeats remove until the object is not found.
func (s *scenario) insist(remove func(ctx context.Context, i int) error) func(ctx context.Context, i int) error {
	return func(ctx context.Context, i int) error {
		s.eventually("an object is removed", func() error {
			err := remove(ctx, i)
			if apierrors.IsNotFound(err) {
				return nil
			}
			return err
		})
		return nil
	}
}

// trouble makes connections, servers and the given controllers fail, one after another.
func (s *scenario) trouble(proxy *harness.Proxy, killed ...*controller) {
	s.t.Helper()
	s.sleep(2 * time.Second)
	proxy.Cut()
	s.sleep(time.Second)
	s.must(s.cluster.RestartAPIServer(s.ctx))
	s.sleep(2 * time.Second)
	for _, c := range killed {
		c.process.Kill()
		s.must(c.process.Start(s.ctx))
	}
	s.sleep(2 * time.Second)
	s.must(s.cluster.Etcd.Freeze())
	s.sleep(3 * time.Second)
	s.must(s.cluster.Etcd.Thaw())
	proxy.Cut()
	s.sleep(time.Second)
	s.cluster.Etcd.Kill()
	s.must(s.cluster.Etcd.Start(s.ctx))
	s.sleep(2 * time.Second)
	proxy.Cut()
	s.sleep(time.Second)
}
