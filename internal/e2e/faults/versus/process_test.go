package versus

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
)

// The implementations, by their names in benchmarks.
const (
	clientgo = "client-go"
	ours     = "tidemark"
)

// process is a measured process, which answers orders.
type process struct {
	b       *testing.B
	cmd     *exec.Cmd
	orders  *json.Encoder
	in      io.Closer
	answers *json.Decoder
}

// spawn starts this program again as a measured process. The benchmark ends it.
func (w *world) spawn(b *testing.B, impl string, t task) *process {
	config := harness.Via(w.cluster.Config(), w.proxy.Address())
	t.Tidemark, t.Host, t.Token, t.CAFile = impl == ours, config.Host, config.BearerToken, config.CAFile
	t.Handlers = max(t.Handlers, 1)
	if *profiles != "" && t.Tidemark {
		require.NoError(b, os.MkdirAll(*profiles, 0o755))
		t.Profile = filepath.Join(*profiles, strings.ReplaceAll(b.Name(), "/", "-"))
	}
	text, err := json.Marshal(t)
	require.NoError(b, err)
	self, err := os.Executable()
	require.NoError(b, err)
	cmd := exec.CommandContext(b.Context(), self)
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), childVariable+"="+string(text), fmt.Sprintf("KUBE_FEATURE_WatchListClient=%v", !t.Lists))
	in, err := cmd.StdinPipe()
	require.NoError(b, err)
	out, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	p := &process{b, cmd, json.NewEncoder(in), in, json.NewDecoder(bufio.NewReader(out))}
	b.Cleanup(p.end)
	return p
}

// ask sends an order and waits for the answer.
func (p *process) ask(o order) sample {
	p.send(o)
	return p.answer()
}

func (p *process) send(o order) { require.NoError(p.b, p.orders.Encode(o)) }

func (p *process) answer() (s sample) {
	require.NoError(p.b, p.answers.Decode(&s))
	require.Empty(p.b, s.Error)
	return s
}

// end closes the process's input, and waits for its end.
func (p *process) end() {
	_ = p.in.Close()                                                             // the process may have ended
	timer := time.AfterFunc(10*time.Second, func() { _ = p.cmd.Process.Kill() }) // the process may have ended
	defer timer.Stop()
	_ = p.cmd.Wait() // failures are in its answers
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
	for name, of := range map[string][]time.Duration{"": s.Latencies, "own-": s.Own} {
		if len(of) > 0 {
			b.ReportMetric(float64(of[(len(of)-1)*50/100]), name+"p50-ns")
			b.ReportMetric(float64(of[(len(of)-1)*99/100]), name+"p99-ns")
		}
	}
}
