package faults

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
)

// patience limits each wait of a scenario. Only a busy machine comes close to it.
const patience = 5 * time.Minute

// scenario is the cluster of a test, with operations on it.
type scenario struct {
	t       *testing.T
	ctx     context.Context
	cluster *harness.Cluster
	admin   kubernetes.Interface // connected directly to the kube-apiserver
	counted []counted            // the mirrors and informers whose requests are in the table
	note    string
	storage informer.Storage // the storage of mirrors that are made from now on

	mu     sync.Mutex
	healed time.Time // when the fault ended
}

// counted has the counts of a mirror, or of many informers, for the table.
type counted interface {
	counts() (lists, streams, watches, relists int)
}

// begin starts a cluster. It ends with the test, after everything that is started later.
func begin(t *testing.T, o harness.Options) *scenario {
	t.Helper()
	cluster, err := harness.Start(t.Context(), t.TempDir(), o)
	require.NoError(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(cluster.APIServer.LogTail())
			t.Log(cluster.Etcd.LogTail())
		}
		cluster.Kill()
	})
	s := &scenario{t: t, ctx: t.Context(), cluster: cluster}
	s.admin = kubernetes.NewForConfigOrDie(s.connect(cluster.Config()))
	return s
}

// connect makes the connections of a config's clients end with the test.
func (s *scenario) connect(config *rest.Config) *rest.Config {
	config.Wrap(s.closing)
	return config
}

// proxy starts a TCP proxy in front of the kube-apiserver.
func (s *scenario) proxy() *harness.Proxy {
	s.t.Helper()
	p, err := harness.NewProxy(s.cluster.Address())
	require.NoError(s.t, err)
	s.t.Cleanup(p.Close)
	return p
}

func (s *scenario) createPods(n int) {
	s.t.Helper()
	s.must(harness.CreatePods(s.ctx, s.admin, n, namespaces))
}

// namespaces is the number of namespaces with pods.
const namespaces = 10

func (s *scenario) must(err error) {
	s.t.Helper()
	require.NoError(s.t, err)
}

// heal records the end of the fault. The time to converge counts from here.
func (s *scenario) heal() {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.healed = time.Now()
}

// sleep waits while a fault has its effect. Scenarios wait for results with eventually.
func (s *scenario) sleep(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.ctx.Done():
	}
}

// eventually waits until probe returns nil.
func (s *scenario) eventually(what string, probe func() error) {
	s.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.After(patience)
	for {
		err := probe()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-late:
			require.NoError(s.t, err, "%s, after %v", what, patience)
		case <-s.ctx.Done():
			require.NoError(s.t, errors.Join(err, s.ctx.Err()), what)
		}
	}
}

// budget fails the test if the mirrors have sent more than most requests.
func (s *scenario) budget(most int) {
	s.t.Helper()
	lists, streams, watches, _ := s.totals()
	if total := lists + streams + watches; total > most {
		s.t.Errorf("%d requests, but the budget is %d", total, most)
	}
}

func (s *scenario) totals() (lists, streams, watches, relists int) {
	for _, m := range s.counted {
		l, st, w, r := m.counts()
		lists, streams, watches, relists = lists+l, streams+st, watches+w, relists+r
	}
	return lists, streams, watches, relists
}

// row adds the scenario to the table.
func (s *scenario) row(converged time.Duration) {
	lists, streams, watches, relists := s.totals()
	r := row{scenario: words(s.t.Name()), relists: relists, converged: converged, note: s.note}
	r.requests = sum(lists, streams, watches)
	results.add(r)
}

// closing closes a transport's connections at the end of the test.
func (s *scenario) closing(rt http.RoundTripper) http.RoundTripper {
	s.t.Cleanup(func() { utilnet.CloseIdleConnectionsFor(rt) })
	return rt
}
