package versus

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
	"github.com/tidemark-k8s/tidemark/internal/process"
)

// The names of the implementations in benchmarks.
const (
	clientgo = "client-go"
	ours     = "tidemark"
)

// measuredProcess is a measured process that answers orders.
type measuredProcess struct {
	b     *testing.B
	child *process.Child
}

// spawn starts this program again as a measured process. The benchmark stops it.
func (w *world) spawn(b *testing.B, impl string, t task) *measuredProcess {
	config := harness.Via(w.cluster.Config(), w.proxy.Address())
	t.Tidemark, t.Host, t.Token, t.CAFile = impl == ours, config.Host, config.BearerToken, config.CAFile
	t.Handlers = max(t.Handlers, 1)
	if *profiles != "" && t.Tidemark {
		require.NoError(b, os.MkdirAll(*profiles, 0o755))
		t.Profile = filepath.Join(*profiles, strings.ReplaceAll(b.Name(), "/", "-"))
	}
	text, err := json.Marshal(t)
	require.NoError(b, err)
	child, err := process.Start(b.Context(), childVariable+"="+string(text), fmt.Sprintf("KUBE_FEATURE_WatchListClient=%v", !t.Lists))
	require.NoError(b, err)
	b.Cleanup(child.End)
	return &measuredProcess{b, child}
}

// ask sends an order and waits for the answer.
func (p *measuredProcess) ask(o order) sample {
	p.send(o)
	return p.answer()
}

func (p *measuredProcess) send(o order) { require.NoError(p.b, p.child.Send(o)) }

func (p *measuredProcess) answer() (s sample) {
	require.NoError(p.b, p.child.Receive(&s))
	require.Empty(p.b, s.Error)
	return s
}

// report reports a sample as metrics of a benchmark.
func (s sample) report(b *testing.B) {
	b.ReportMetric(float64(s.Wall), "ns/op")
	b.ReportMetric(float64(s.CPU), "cpu-ns")
	b.ReportMetric(float64(s.Peak), "peak-B")
	if s.Heap > 0 {
		b.ReportMetric(float64(s.Heap), "heap-B")
		b.ReportMetric(float64(s.Calls), "calls")
	}
	if s.Received > 0 {
		b.ReportMetric(float64(s.Received), "received-B")
		b.ReportMetric(float64(s.Foreign), "foreign")
	}
	for name, of := range map[string][]time.Duration{"": s.Latencies, "own-": s.Own} {
		if len(of) > 0 {
			b.ReportMetric(float64(of[(len(of)-1)*50/100]), name+"p50-ns")
			b.ReportMetric(float64(of[(len(of)-1)*99/100]), name+"p99-ns")
		}
	}
}
